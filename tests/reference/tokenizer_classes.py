"""Makes the tables in src/chat/model/tokenizer_tables from transformers: how a tokenizer's class is chosen, and the tokens of each class.

    python tests/reference/tokenizer_classes.py --check    # fails if a table differs from what transformers says
    python tests/reference/tokenizer_classes.py --write

The tables of `models/auto/tokenization_auto.py` are copied. The tokens of a class are read off a tokenizer that the class
loads from a small folder. A class that needs more than requirements.txt installs is not loaded; its tokens are
the defaults in the source of its constructor. Runs under CPython 3.13 with what requirements.txt lists.
"""

import ast
import json
import os
import pathlib
import re
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"

import transformers
from differences import changed_lines
from engine import require_versions
from transformers import PreTrainedTokenizerBase
from transformers.convert_slow_tokenizer import SLOW_TO_FAST_CONVERTERS
from transformers.models.auto import tokenization_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

TABLES = pathlib.Path(__file__).resolve().parents[2] / "src" / "chat" / "model" / "tokenizer_tables"
MODELS = pathlib.Path(transformers.__file__).parent / "models"
STANDARD = PreTrainedTokenizerBase.SPECIAL_TOKENS_ATTRIBUTES

# The class without tokens of its own, which loads any `tokenizer.json`.
BACKEND = "TokenizersBackend"

# A class reads one or two of these models and refuses the others.
PIECES = ["<unk>", "<s>", "</s>", "<pad>", "<mask>", "[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "a"]
VOCABULARY = {piece: index for index, piece in enumerate(PIECES)}
TOKENIZER_MODELS = [
    {"type": "BPE", "vocab": VOCABULARY, "merges": []},
    {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 9, "vocab": VOCABULARY},
    {"type": "Unigram", "unk_id": 0, "vocab": [[piece, 0.0] for piece in PIECES]},
]
PADDING = {
    "strategy": "BatchLongest",
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 0,
    "pad_type_id": 0,
    "pad_token": "<padding of tokenizer.json>",
}
# For the classes that do not read a `tokenizer.json`.
VOCABULARY_FILES = {
    "vocab.json": json.dumps(VOCABULARY),
    "vocab.txt": "\n".join(PIECES),
    "merges.txt": "#version: 0.2\n",
    "bpe.codes": "",
}


def registered_names():
    """The class that each model type is registered with, also where transformers was started without a package that it needs."""
    source = pathlib.Path(tokenization_auto.__file__).read_text(encoding="utf-8")
    guarded = dict(re.findall(r'\("([^"]+)", "(\w+)" if is_\w+_available\(\) else None\)', source))
    names = tokenization_auto.TOKENIZER_MAPPING_NAMES
    return {model: name or guarded[model] for model, name in names.items()}


def class_of_config(model):
    """The class that `TOKENIZER_MAPPING` has for the configuration class of a model type, which several types may share."""
    mapping = tokenization_auto.TOKENIZER_MAPPING
    if model not in CONFIG_MAPPING or CONFIG_MAPPING[model] not in mapping:
        return None
    found = mapping[CONFIG_MAPPING[model]]
    return found.__name__ if found else registered_names()[model]


def resolved(name):
    """The name of the class that transformers finds by a name, if it is a tokenizer."""
    found = tokenization_auto.tokenizer_class_from_name(name)
    is_tokenizer = isinstance(found, type) and issubclass(found, PreTrainedTokenizerBase)
    # The placeholder of a class that needs a package has its name.
    is_placeholder = hasattr(found, "_backends") and name.endswith("Tokenizer")
    if not is_tokenizer and not is_placeholder:
        return None
    return BACKEND if found.__name__ == "PythonBackend" else found.__name__


def loaded_tokens(name, model, padding):
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = {"version": "1.0", "padding": padding, "added_tokens": [], "model": model}
        for file, content in {**VOCABULARY_FILES, "tokenizer.json": json.dumps(tokenizer)}.items():
            pathlib.Path(folder, file).write_text(content, encoding="utf-8")
        # What a class raises for a folder that it does not read has no common base.
        try:
            return tokenization_auto.tokenizer_class_from_name(name).from_pretrained(folder).special_tokens_map
        except Exception:
            return None


def tokens(name):
    """The special tokens of a class; a null as `pad_token` says that the class does not take the one of `tokenizer.json`."""
    loaded = [found for model in TOKENIZER_MODELS if (found := loaded_tokens(name, model, None)) is not None]
    if not loaded:
        return tokens_in_source(name)
    padded = [found for model in TOKENIZER_MODELS if (found := loaded_tokens(name, model, PADDING)) is not None]
    assert all(found == loaded[0] for found in loaded) and all(found == padded[0] for found in padded), name
    pads = padded[0].get("pad_token")
    return {**loaded[0], "pad_token": None} if pads is None else loaded[0]


def tokens_in_source(name):
    for path in sorted(MODELS.glob("*/tokenization_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                constructor = next(item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__")
                arguments = constructor.args.args
                defaults = zip(reversed(arguments), reversed(constructor.args.defaults), strict=False)
                found = {argument.arg: value.value for argument, value in defaults if isinstance(value, ast.Constant)}
                return {token: found[token] for token in STANDARD if isinstance(found.get(token), str)}
    return None


def model_types():
    """A model type, the class registered for it, the class for its configuration class, and what else is known of it."""
    registered = registered_names()
    corrected = tokenization_auto.MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS
    for model in sorted({*registered, *CONFIG_MAPPING}):
        notes = [note for note, holds in [("known", model in CONFIG_MAPPING), ("corrected", model in corrected)] if holds]
        yield [model, registered.get(model) or "", class_of_config(model) or "", " ".join(notes)]


def classes():
    """A class and its tokens, or a name and the class that transformers finds by it; names end without `Fast`."""
    spelled = {*registered_names().values(), *SLOW_TO_FAST_CONVERTERS, *dir(transformers), "BloomTokenizer", "PythonBackend"}
    plain = {name.removesuffix("Fast") for name in spelled}
    found = {name: resolved(name) for name in sorted(plain) if name.endswith(("Tokenizer", "Backend"))}
    of_class = {name: tokens(name) for name in sorted(set(filter(None, found.values())))}
    for name, target in found.items():
        if of_class.get(target) is not None:
            yield [name, json.dumps(of_class[name]) if name == target else target]


def repositories():
    """A pattern of repository names whose tokenizers are loaded as TokenizersBackend."""
    for pattern in tokenization_auto.MODEL_IDS_TO_TOKENIZERS_BACKEND:
        assert not set(pattern.removesuffix("*")) & set("*?["), pattern
        yield [pattern]


def main():
    require_versions()
    if sys.argv[1:] not in (["--check"], ["--write"]):
        sys.exit(__doc__.split("\n\n")[1])
    transformers.logging.set_verbosity_error()
    faults = []
    for table in [model_types, classes, repositories]:
        path = TABLES / f"{table.__name__}.tsv"
        lines = [f"# {table.__doc__} Made by tests/reference/tokenizer_classes.py; do not edit."]
        text = "".join(line + "\n" for line in lines + ["\t".join(cells) for cells in table()])
        if sys.argv[1] == "--write":
            path.write_text(text, encoding="utf-8")
        else:
            faults += changed_lines(path, text)
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
