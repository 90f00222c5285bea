"""The examples of the package's README run as they stand."""

import copy
import re

import datasets
import pytest
from conftest import PLAIN, ROOT, make_rows

EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "src/python/README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=["transformers", "vllm", "trl"])
def test_examples(example, tokenizer, monkeypatch):
    monkeypatch.chdir(ROOT)
    tokenizer.chat_template = PLAIN
    names = {}
    exec(example, names)
    assert len(example.strip().split("\n")) <= 11
    if "replace" in names:
        tokenizer = copy.deepcopy(tokenizer)
        expected = tokenizer.apply_chat_template(make_rows(3))
        names["replace"](tokenizer)
        assert tokenizer.apply_chat_template(make_rows(3)) == expected
    if "prepare" in names and callable(names["prepare"]):
        rows = names["prepare"](datasets.Dataset.from_dict({"messages": make_rows(50)}), tokenizer)
        assert rows.column_names == ["input_ids", "attention_mask", "labels"] and len(rows) == 50
