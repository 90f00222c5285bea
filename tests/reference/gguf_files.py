"""Compares what the program reads of GGUF files with what transformers reads, and with a folder of the same model.

    python tests/reference/gguf_files.py PROGRAM TEMPLATES    # the program, and a folder of templates

The package `gguf` writes a file for each of 30 templates: little-endian and big-endian, with and without named templates, with each set
of special tokens. transformers reads the little-endian one; what it reads is written as a folder, and the prompts of both are compared.
A file of 3 GB without content after its metadata must be read within 256 MB of address space. Needs the packages `gguf` and `numpy`.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import types

IDS = ["bos", "eos", "unk", "pad"]
TOKENS = ["<unk>", "<s>", "</s>", "<pad>", "a", "<|im_start|>", "<|im_end|>", "<|end|>"]
TYPES = [2, 3, 3, 3, 1, 3, 3, 4]
MESSAGES = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "Bye"}]
TOOLS = [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}}]


def load_reference():
    """Returns the function of transformers that reads a file. Its module imports torch for tensors only, which are not read here."""

    class Anything(type):
        def __getattr__(cls, name):
            return cls

    class Stub(metaclass=Anything):
        def __init__(self, *arguments, **options):
            pass

    torch = types.ModuleType("torch")
    torch.__spec__ = types.SimpleNamespace(name="torch")
    torch.__getattr__ = lambda name: Stub
    sys.modules.setdefault("torch", torch)
    from transformers.integrations.gguf.gguf_tokenizer_mapping import get_gguf_tokenizer

    return get_gguf_tokenizer


def write(path, source, index, endianess, gguf):
    """Writes a file whose tokens, types and templates depend on the index."""
    writer = gguf.GGUFWriter(path, "llama", endianess=endianess)
    writer.add_tokenizer_model(["gpt2", "llama"][index % 2])
    writer.add_token_list(TOKENS)
    writer.add_token_types(TYPES)
    writer.add_token_merges(["< s", "a b"])
    for place, name in enumerate(IDS):
        if index >> place & 1:
            getattr(writer, f"add_{name}_token_id")((index * 7 + place) % len(TOKENS))
    if index % 3 == 0:
        writer.add_add_bos_token(index % 2 == 0)
    named = [{"name": "default", "template": source}, {"name": "tool_use", "template": "{{ bos_token }}tools"}]
    writer.add_chat_template(named if index % 5 == 4 else source)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_folder(path, config, has_named):
    """Writes what transformers read as a folder."""
    path.mkdir()
    (path / "chat_template.jinja").write_text(config.pop("chat_template"), encoding="utf-8")
    if has_named:
        (path / "additional_chat_templates").mkdir()
        (path / "additional_chat_templates" / "tool_use.jinja").write_text("{{ bos_token }}tools", encoding="utf-8")
    config.pop("add_bos_token", None)
    (path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")


def render(run, model, files):
    """Returns the prompts or the errors of a model, for a conversation without and with tools."""
    outputs = []
    for tools in ([], ["--tools", files["tools"]]):
        command = [*run, "render", "--model", model, "--messages", files["messages"], *tools]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        # An error names the model.
        outputs.append(done.stdout if done.returncode == 0 else done.stderr.replace(str(model), "MODEL").splitlines()[:1])
    return outputs


def main():
    program, templates = sys.argv[1:]
    import gguf

    read = load_reference()
    sources = sorted(pathlib.Path(templates).glob("*.jinja"))[:30]
    different = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        files = {}
        for name, content in (("messages", MESSAGES), ("tools", TOOLS)):
            files[name] = folder / f"{name}.json"
            files[name].write_text(json.dumps(content), encoding="utf-8")
        for index, source in enumerate(sources):
            model = folder / f"{index}"
            little, big = model.with_suffix(".gguf"), model.with_suffix(".big.gguf")
            write(little, source.read_text(encoding="utf-8"), index, gguf.GGUFEndian.LITTLE, gguf)
            write(big, source.read_text(encoding="utf-8"), index, gguf.GGUFEndian.BIG, gguf)
            _, _, config = read(str(little))
            write_folder(model, config, index % 5 == 4)
            expected = render([program], model, files)
            for file in (little, big):
                found = render([program], file, files)
                if [str(part).replace(".jinja", "") for part in found] != [str(part).replace(".jinja", "") for part in expected]:
                    different += 1
                    print(f"{source.name} {file.name}\n  {expected}\n  {found}")
        sparse = folder / "0.gguf"
        with open(sparse, "r+b") as file:
            file.truncate(3 << 30)
        bounded = ["sh", "-c", "ulimit -v 262144; exec \"$@\"", "sh", program]
        different += render(bounded, sparse, files) != render([program], sparse, files)
        print(f"{len(sources)} templates, {different} different")
        if different or len(sources) != 30:
            sys.exit(1)


if __name__ == "__main__":
    main()
