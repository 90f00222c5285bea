"""The examples of the pages run as they are."""

import copy
import re

import datasets
import pytest
from conftest import PLAIN, ROOT, make_rows

PAGES = {path: (ROOT / path).read_text(encoding="utf-8") for path in ("README.md", "src/python/README.md")}
EXAMPLES = [example for page in PAGES.values() for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL)]


@pytest.mark.parametrize("example", EXAMPLES, ids=["first", "transformers", "vllm", "trl"])
def test_examples(example, tokenizer, monkeypatch):
    monkeypatch.chdir(ROOT)
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.chat_template = PLAIN
    rows = make_rows(50)
    expected = tokenizer.apply_chat_template(rows)
    names = {"tokenizer": tokenizer, "messages": rows[0], "dataset": datasets.Dataset.from_dict({"messages": rows})}
    exec(example, names)
    assert len(example.strip().split("\n")) <= 11
    if "replace" in names:
        names["replace"](tokenizer)
    if "rows" in names:
        assert names["spans"] and names["rows"]["input_ids"][:] == expected["input_ids"]
    if "prepare" in names:
        done = names["prepare"](names["dataset"], tokenizer)
        assert done.column_names == ["input_ids", "attention_mask", "labels"] and len(done) == 50
    assert tokenizer.apply_chat_template(rows) == expected
