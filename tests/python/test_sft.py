"""Tokens and labels for training."""

import datasets
import pytest
from conftest import GENERATION, PLAIN, make_rows

from chat_template import ChatTemplate, RefusedError, sft


def decode(tokenizer, row):
    return tokenizer.decode([token for token in row["labels"] if token != sft.NO_LABEL])


@pytest.mark.parametrize("kind", [0, 1], ids=["byte-level", "byte-fallback"])
def test_10000_rows_have_the_labels_of_transformers(tokenizers, kind):
    tokenizer = tokenizers[kind]
    tokenizer.chat_template = GENERATION
    tokenizer.truncation_side = "right"
    tokenizer.backend_tokenizer.enable_truncation(5)
    template = ChatTemplate.from_tokenizer(tokenizer)
    rows = make_rows(10_000)
    dataset = datasets.Dataset.from_dict({"messages": rows})
    done = dataset.map(sft.tokenize(template, tokenizer), batched=True, remove_columns=["messages"])
    assert set(done["verdict"]) == {""} and len(done) == 10_000
    expected = tokenizer.apply_chat_template(rows[:2000], return_assistant_tokens_mask=True)
    for index, row in enumerate(done.select(range(2000))):
        mask = expected["assistant_masks"][index]
        ids = expected["input_ids"][index]
        assert row["input_ids"] == ids and row["attention_mask"] == [1] * len(ids)
        assert row["labels"] == [token if marked else -100 for token, marked in zip(ids, mask)]


def test_two_processes(tokenizer):
    tokenizer.chat_template = PLAIN
    template = ChatTemplate.from_tokenizer(tokenizer)
    dataset = datasets.Dataset.from_dict({"messages": make_rows(100)})
    tokenize = sft.tokenize(template, tokenizer)
    assert dataset.map(tokenize, batched=True, num_proc=2)["labels"][:] == dataset.map(tokenize, batched=True)["labels"][:]


def test_a_row_ends_where_a_turn_ends(tokenizer):
    template = ChatTemplate.from_source(PLAIN)
    messages = make_rows(5)[4]
    whole = sft.tokenize(template, tokenizer)({"messages": [messages]})
    total = len(whole["input_ids"][0])
    for length in range(1, total + 1):
        row = sft.tokenize(template, tokenizer, max_length=length)({"messages": [messages]})
        ids, labels, verdict = row["input_ids"][0], row["labels"][0], row["verdict"][0]
        assert len(ids) == len(labels) <= length and ids == whole["input_ids"][0][: len(ids)]
        if verdict and verdict.startswith("no turn ends"):
            assert set(labels) == {-100}
        elif verdict:
            assert verdict == f"cut to {len(ids)} of {total} tokens"
            assert tokenizer.decode(ids).endswith("<|im_end|>\n")


def test_only_the_completion_is_trained(tokenizer):
    template = ChatTemplate.from_source(PLAIN)
    prompt = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "First"}, {"role": "user", "content": "Again"}]
    row = {"prompt": [prompt], "completion": [[{"role": "assistant", "content": "Second"}]]}
    done = sft.tokenize(template, tokenizer)(row)
    assert decode(tokenizer, {"labels": done["labels"][0]}) == "Second<|im_end|>"
    done = sft.tokenize(template, tokenizer, end_token=False)(row)
    assert decode(tokenizer, {"labels": done["labels"][0]}) == "Second"


def test_verdicts(tokenizer):
    source = "{{ bos_token }}{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('No tools!') }}{% endif %}" \
             "{% if m.role != 'note' %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}"  # fmt: skip
    template = ChatTemplate.from_source(source, bos_token="<s>", eos_token="</s>")
    rows = [
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}],
        [{"role": "user", "content": "Hi<s>"}, {"role": "assistant", "content": "Ho"}],
        [{"role": "note", "content": "Hi"}, {"role": "assistant", "content": "Ho"}],
        [{"role": "tool", "content": "Hi"}],
        [{"role": "user", "content": object()}],
    ]
    verdicts = sft.tokenize(template, tokenizer, verdict_column="v")({"messages": rows})["v"]
    assert verdicts[:3] == ["", "a second BOS", "message 0 not in the prompt"]
    assert verdicts[3].startswith("error: raised error: No tools!") and "is of type object" in verdicts[4]
    unknown = ChatTemplate.from_source("{{ messages|tojson }}")
    assert "mask unknown" in sft.tokenize(unknown, tokenizer)({"messages": rows[:1]})["verdict"][0]
    with pytest.raises(RefusedError):
        sft.tokenize(template, tokenizer, verdict_column=None)({"messages": rows})


BAD = [("tools", "{nope"), ("tools", "[" * 5000), ("tools", "5"), ("chat_template_kwargs", "[1]"), ("chat_template_kwargs", "x"),
       ("messages", None), ("messages", 5), ("messages", "x"), ("messages", [{"role": "user", "content": "\ud800"}])]  # fmt: skip


@pytest.mark.parametrize(("column", "value"), BAD)
def test_a_bad_row_has_a_verdict(tokenizer, column, value):
    good = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
    batch = {"messages": [good] * 3, "tools": [None] * 3, "chat_template_kwargs": [None] * 3}
    tokenize = sft.tokenize(ChatTemplate.from_source(PLAIN), tokenizer)
    expected = tokenize(batch)
    batch[column] = [batch[column][0], value, batch[column][0]]
    found = tokenize(batch)
    assert found["verdict"][1].startswith("error: ") and found["input_ids"][1] == []
    for name in ("input_ids", "labels", "verdict"):
        assert [found[name][0], found[name][2]] == [expected[name][0], expected[name][2]]
    with pytest.raises(Exception):
        sft.tokenize(ChatTemplate.from_source(PLAIN), tokenizer, verdict_column=None)(batch)
