#!/usr/bin/env python3
"""Writes `tokenizer.json`: a small byte-level BPE, trained on the README, with control tokens that overlap.

    python3 tests/outside/tokenizers/make.py

The format is that of huggingface/tokenizers. The file depends only on the README of the day it was made.
"""

import json
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
MERGES = 200
# Longer and shorter ones with common parts, one inside another, one that is not special, and one with letters alone.
CONTROL_TOKENS = [
    "<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|user|>", "<|assistant|>", "<|system|>", "<|end|>", "<|end|>\n",
    "<|end|><|end|>", "d|><|", "[INST]", "[/INST]", "<<SYS>>", "STOP", "<start_of_turn>", "<end_of_turn>",
    "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<｜end▁of▁sentence｜>",
]
NOT_SPECIAL = ["<tool_call>", "</tool_call>", "<think>"]


def byte_signs():
    """Returns the sign of each byte in a byte-level BPE: itself if it is printable, else a letter after U+0100."""
    signs = {byte: chr(byte) for byte in [*range(33, 127), *range(161, 173), *range(174, 256)]}
    rest = [byte for byte in range(256) if byte not in signs]
    signs.update({byte: chr(256 + index) for index, byte in enumerate(rest)})
    return [signs[byte] for byte in range(256)]


def train(text, signs, count):
    """Returns the most frequent pairs, one merge after another."""
    words = [[signs[byte] for byte in word.encode()] for word in text.replace(" ", "\0 ").split("\0")]
    merges = []
    for _ in range(count):
        pairs = Counter(pair for word in words for pair in zip(word, word[1:]))
        left, right = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append([left, right])
        for word in words:
            at = 0
            while at + 1 < len(word):
                if (word[at], word[at + 1]) == (left, right):
                    word[at : at + 2] = [left + right]
                at += 1
    return merges


def main():
    signs = byte_signs()
    merges = train((HERE / "../../../README.md").read_text(), signs, MERGES)
    vocabulary = {}
    for token in [*signs, *(left + right for left, right in merges)]:
        vocabulary.setdefault(token, len(vocabulary))
    added = [
        {
            "id": len(vocabulary) + index, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": token not in NOT_SPECIAL,
        }
        for index, token in enumerate(CONTROL_TOKENS + NOT_SPECIAL)
    ]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": level, "post_processor": None, "decoder": level,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
            "vocab": vocabulary, "merges": merges,
        },
    }
    (HERE / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False, indent=None) + "\n")


main()
