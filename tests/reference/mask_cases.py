"""Makes tests/tool/apply/masks.jsonl: spans, the offsets of tokens, and the mask of transformers' `apply_chat_template`.

    python tests/reference/mask_cases.py --check    # fails if a mask is not that of transformers
    python tests/reference/mask_cases.py --write

The tokens are those of small tokenizers of three kinds. Runs under CPython 3.13 with the packages in requirements.txt.
"""

import json
import pathlib
import sys

from differences import changed_lines
from engine import require_versions
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

TARGET = pathlib.Path(__file__).resolve().parents[1] / "tool" / "apply" / "masks.jsonl"

MESSAGES = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello there 👍🏽"},
    {"role": "user", "content": "Bye"},
    {"role": "assistant", "content": " See you. "},
]
TEMPLATES = {
    "spans of whole turns": "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<end>"
    "{% endgeneration %}{% else %}{{ m.content }}<end>{% endif %}{% endfor %}",
    "a span that begins and ends within tokens": "{% for m in messages %}{{ m.content[:1] }}"
    "{% generation %}{{ m.content[1:-1] }}{% endgeneration %}{{ m.content[-1:] }}{% endfor %}",
    "nested blocks": "{% for m in messages %}{{ m.role }} {% generation %}{{ m.content }} {% generation %}in{% endgeneration %}"
    " out {% endgeneration %}{% endfor %}end",
    "empty blocks": "{% generation %}{% endgeneration %}{% for m in messages %}{{ m.content }}{% generation %}{% endgeneration %}"
    "{% endfor %}{% generation %}last{% endgeneration %}",
    "spans of white space": "{% for m in messages %}{{ m.role }}{% generation %}  {% endgeneration %}{{ m.content }}{% endfor %}",
    "no block": "{% for m in messages %}{{ m.content }}{% endfor %}",
    "a span that is longer than the prompt": "{% set x %}{% generation %}{{ messages[1].content * 9 }}{% endgeneration %}{% endset %}"
    "{{ messages[0].content }}{{ x[:9] }}",
}
# No truncation, and truncation on each side.
OPTIONS = {
    "": {},
    ", truncated on the right": {"truncation": True, "max_length": 9, "truncation_side": "right"},
    ", truncated on the left": {"truncation": True, "max_length": 9, "truncation_side": "left"},
    ", padded on the left": {"padding": "max_length", "max_length": 40, "padding_side": "left"},
}


# The words that are one token. All other text is a token for each letter or byte.
WORDS = ["Hi", "Hello", "there", "Bye", "See", "you", "user", "assistant", "end", "in", "out", "last"]
LETTERS = sorted(set("".join(WORDS) + "<>.👍🏽"))


def byte_level():
    """Each byte of an emoji is a token, and all these tokens have one offset."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    starts = [(word[:length], word[length]) for word in WORDS for length in range(1, len(word))]
    pieces = dict.fromkeys(alphabet + ["".join(start) for start in starts])
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocabulary, list(dict.fromkeys(starts))))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def word_pieces():
    """No token has white space."""
    pieces = ["<unk>", *WORDS, *LETTERS, *[f"##{letter}" for letter in LETTERS]]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def unigram():
    """White space belongs to the word after it."""
    words = [f"\u2581{word}" for word in WORDS] + WORDS
    letters = ["\u2581", *LETTERS[:-2]]
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), *((word, -1.0) for word in words), *((letter, -9.0) for letter in letters)], 0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


class Recorder(PreTrainedTokenizerFast):
    """Keeps the offsets of the tokens and the spans of the last prompt."""

    def __call__(self, *texts, **options):
        encoded = super().__call__(*texts, **options)
        self.tokens = encoded.encodings[0].offsets
        # The spans are only in a local variable of the caller.
        self.spans = sys._getframe(1).f_locals["generation_indices"][0]
        return encoded


def cases():
    for make in (byte_level, word_pieces, unigram):
        for what, template in TEMPLATES.items():
            for how, options in OPTIONS.items():
                sides = {key: side for key, side in options.items() if key.endswith("_side")}
                others = {key: value for key, value in options.items() if key not in sides}
                recorder = Recorder(tokenizer_object=make(), pad_token="<pad>", chat_template=template, **sides)
                try:
                    answer = recorder.apply_chat_template(MESSAGES, return_assistant_tokens_mask=True, **others)
                except Exception as error:
                    # Some other versions than the reference fail.
                    answer = {"assistant_masks": [error]}
                yield {
                    "rule": f"{what}{how}, {make.__name__}",
                    "spans": recorder.spans,
                    "tokens": recorder.tokens,
                    "mask": "".join(map(str, answer["assistant_masks"])),
                }


def main():
    require_versions()
    if sys.argv[1:] not in (["--check"], ["--write"]):
        sys.exit(__doc__.split("\n\n")[1])
    text = "".join(json.dumps(case) + "\n" for case in cases())
    if sys.argv[1] == "--write":
        TARGET.write_text(text, encoding="utf-8")
    elif faults := changed_lines(TARGET, text):
        print(*faults, sep="\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
