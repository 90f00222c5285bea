"""Answers what transformers reads from a model's folder: a description of a folder a line on standard input, an answer a line.

    $ echo '{"id": 1, "files": {"chat_template.jinja": "x", "tokenizer_config.json": "{\"bos_token\": \"<s>\"}"}}' \
          | python tests/reference/folder_port.py
    {"id": 1, "template": "x", "special_tokens": {"bos_token": "<s>"}}

`files` has texts by path; `{"hex": "ff"}` are bytes that are not text, and null is a folder. With `"processor": true` the
template is that of a processor. A request with `model` names a folder of tests/models instead, and is answered as an `apply`
request is, without spans:

    {"id": 2, "model": "jinja", "apply": {"messages": [{"role": "user", "content": "Hi"}], "tools": []}}

It needs transformers 5.24.0, and no torch: a small vocabulary is laid beside the files, so that
`AutoTokenizer` has something to load.
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"

import transformers
from transformers import AutoTokenizer, ProcessorMixin

import errors

VOCABULARY = {
    "version": "1.0",
    "added_tokens": [],
    "model": {"type": "BPE", "vocab": {"<unk>": 0, "a": 1}, "merges": []},
}


MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"


def lay_out(folder, files):
    for name, content in {"tokenizer.json": json.dumps(VOCABULARY), **files}.items():
        path = folder / name
        if content is None:
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes.fromhex(content["hex"]) if isinstance(content, dict) else content.encode())


def load(folder, as_processor):
    if as_processor:
        template = ProcessorMixin.get_processor_dict(folder)[0].get("chat_template")
        return {"template": template}
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return {"template": tokenizer.chat_template, "special_tokens": tokenizer.special_tokens_map}


def apply(folder, arguments):
    arguments = dict(arguments)
    arguments |= arguments.pop("variables", {})
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return {"output": tokenizer.apply_chat_template(arguments.pop("messages"), tokenize=False, **arguments)}


def answer(request):
    with tempfile.TemporaryDirectory() as folder:
        if "model" in request:
            shutil.copytree(MODELS / request["model"], folder, dirs_exist_ok=True)
        lay_out(pathlib.Path(folder), request.get("files", {}))
        try:
            if "apply" in request:
                return {"id": request["id"], **apply(folder, request["apply"])}
            return {"id": request["id"], **load(folder, request.get("processor", False))}
        except Exception as error:
            message = errors.message_of(error).replace(folder, "FOLDER")
            return {"id": request["id"], "error": {"kind": errors.kind_of(error), "message": message}}


def main():
    transformers.logging.set_verbosity_error()
    # Native code prints warnings to where the answers go.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    # Before it runs code, transformers asks for permission on standard input. An empty one is as good as a refusal.
    requests, sys.stdin = sys.stdin, open(os.devnull, encoding="utf-8")
    for line in requests.buffer:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
