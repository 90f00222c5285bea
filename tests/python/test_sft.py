"""Tokens and labels for training."""

import copy
import json

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
        if verdict.startswith("error: no turn ends"):
            assert set(labels) == {-100}
        elif verdict:
            what = "warning: cut to" if set(labels) != {-100} else "error: nothing is trained within"
            assert verdict == f"{what} {len(ids)} of {total} tokens"
            assert tokenizer.decode(ids).endswith("<|im_end|>\n")


def test_a_row_is_cut_at_a_token_or_never(tokenizer):
    template, messages = ChatTemplate.from_source(PLAIN), make_rows(5)[4]
    whole = sft.tokenize(template, tokenizer)({"messages": messages})
    total = len(whole["input_ids"])
    cut = sft.tokenize(template, tokenizer, max_length=total - 3, truncate="token")({"messages": messages})
    assert cut["input_ids"] == whole["input_ids"][:-3] and cut["labels"] == whole["labels"][:-3]
    assert cut["verdict"] == f"warning: cut to {total - 3} of {total} tokens"
    kept = sft.tokenize(template, tokenizer, max_length=5, truncate="never")({"messages": messages})
    assert kept == whole | {"verdict": f"warning: {total} tokens, more than 5"}
    with pytest.raises(ValueError):
        sft.tokenize(template, tokenizer, truncate="left")


def test_only_the_completion_is_trained(tokenizer):
    template = ChatTemplate.from_source(PLAIN)
    prompt = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "First"}, {"role": "user", "content": "Again"}]
    row = {"prompt": [prompt], "completion": [[{"role": "assistant", "content": "Second"}]]}
    done = sft.tokenize(template, tokenizer)(row)
    assert decode(tokenizer, {"labels": done["labels"][0]}) == "Second<|im_end|>"
    done = sft.tokenize(template, tokenizer, end_token=False)(row)
    assert decode(tokenizer, {"labels": done["labels"][0]}) == "Second"


USER, ANSWER = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}
TOOL = {"type": "function", "function": {"name": "f", "description": "Does it.", "parameters": {"type": "object", "properties": {}}}}
SOURCE = (
    "{{ bos_token }}{% if tools %}{{ tools|tojson }}{% endif %}{% for m in messages %}{% if m.role == 'tool' %}"
    "{{ raise_exception('No tools!') }}{% endif %}{% if m.role != 'critic' %}<|im_start|>{{ m.role }}\n{{ m.content if m.content is string else "
    "m.content|map(attribute='text')|join if m.content }}{% for c in m.tool_calls %}{{ c.function.name }}{{ c.function.arguments|tojson }}{% endfor %}"
    "<|im_end|>\n{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
JSON = json.dumps([USER, ANSWER])
HO = "Ho<|im_end|>"
# Rows as people have them: the row, the text that is trained, and the beginning of the verdict.
SHAPES = {
    "messages": ({"messages": [USER, ANSWER]}, HO, ""),
    "messages as text": ({"messages": JSON}, HO, ""),
    "prompt and completion": ({"prompt": [USER, ANSWER, USER], "completion": [ANSWER]}, HO, ""),
    "strings": ({"prompt": "Hi", "completion": "Ho"}, HO, ""),
    "sharegpt": ({"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}]}, HO, ""),
    "alpaca": ({"instruction": "Hi", "input": "", "output": "Ho"}, HO, ""),
    "empty tools": ({"messages": [USER, ANSWER], "tools": ""}, HO, ""),
    "tools as text": ({"messages": [USER, ANSWER], "tools": json.dumps([TOOL])}, HO, ""),
    "null keys": ({"messages": [USER | {"tool_calls": None, "name": None}, ANSWER]}, HO, ""),
    "null arguments": (
        {"messages": [USER, {"role": "assistant", "content": None, "tool_calls": [CALL | {"function": {"name": "f", "arguments": {"a": 1, "b": None}}}]}]},
        'f{"a": 1}<|im_end|>',
        "",
    ),
    "parts": ({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}, ANSWER]}, HO, ""),
    "second bos": ({"messages": [USER, ANSWER], "chat_template_kwargs": {"bos_token": "<s><s>"}}, HO, "warning: the prompt begins with <s> twice"),
    "image": ({"messages": [{"role": "user", "content": [{"type": "image", "text": ""}, {"type": "text", "text": "Hi"}]}, ANSWER]}, HO,
              "warning: /messages/0/content/0: the prompt has nothing of this image"),
    "documents": ({"messages": [USER, ANSWER], "documents": [{"text": "x"}]}, HO, "warning: /documents/0: the prompt has nothing of this document"),
    "control token": ({"messages": [{"role": "user", "content": "a <|im_end|> b"}, ANSWER]}, HO, "warning: /messages/0/content: the text has the control token"),
    "reasoning": ({"messages": [USER, ANSWER | {"reasoning_content": "Hm"}]}, HO, "warning: /messages/1/reasoning_content: the prompt has nothing of this reasoning"),
    "unread variable": ({"messages": [USER, ANSWER], "chat_template_kwargs": {"thinking": 1}}, HO, "warning: /chat_template_kwargs/thinking: the template does not"),
    "lost message": ({"messages": [{"role": "critic", "content": "Hi"}, ANSWER]}, HO, "warning: /messages/0: the prompt has nothing of this message"),
    "nothing trained": ({"messages": [USER]}, "", "error: the model writes nothing"),
    "refused": ({"messages": [USER, {"role": "tool", "content": "x"}]}, "", "error: raised error: No tools!"),
    "no role": ({"messages": [{"content": "x"}]}, "", "error: /messages/0: the message has no role"),
    "not of JSON": ({"messages": [{"role": "user", "content": object()}]}, "", "error: row"),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_has_its_verdict(tokenizer, shape):
    row, trained, verdict = SHAPES[shape]
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_end|>"]})
    tokenizer.chat_template = SOURCE
    template = ChatTemplate.from_tokenizer(tokenizer)
    tokenize = sft.tokenize(template, tokenizer)
    one = tokenize(row)
    assert decode(tokenizer, one) == trained
    assert one["verdict"].startswith(verdict) and bool(one["verdict"]) == bool(verdict)
    assert tokenize({name: [value] for name, value in row.items()}) == {name: [value] for name, value in one.items()}


def test_an_unknown_mask_is_said(tokenizer):
    unknown = ChatTemplate.from_source("{{ messages|tojson }}")
    verdict = sft.tokenize(unknown, tokenizer)({"messages": [USER, ANSWER]})["verdict"]
    assert verdict.startswith("error: it is unknown which text the model writes")


def test_without_a_column_an_exception_is_raised(tokenizer):
    template = ChatTemplate.from_source(SOURCE, bos_token="<s>")
    with pytest.raises(RefusedError):
        sft.tokenize(template, tokenizer, verdict_column=None)({"messages": SHAPES["refused"][0]["messages"]})
    assert list(sft.tokenize(template, tokenizer, verdict_column="v")({"messages": [USER, ANSWER]}))[-1] == "v"


def test_options_are_those_of_the_command(tokenizer):
    template = ChatTemplate.from_source(PLAIN)
    marker = ChatTemplate.from_source(PLAIN.replace("<|im_end|>\n", ""))

    def trained(template=template, **options):
        return decode(tokenizer, sft.tokenize(template, tokenizer, **options)({"messages": [USER, ANSWER, USER]}))

    assert trained() == HO and trained(trailing_space=True) == HO + "\n"
    assert trained(content_only=True) == "Ho" and trained(end_token=False) == "Ho"
    assert trained(marker, next_marker=False) == "Ho" and trained(marker) == trained(marker, next_marker=True) == "Ho<|im_start|>"
    row = {"messages": [USER, {"role": "assistant", "content": "", "tool_calls": [CALL | {"function": {"name": "f", "arguments": '{"a": null}'}}]}]}
    template = ChatTemplate.from_source(SOURCE, bos_token="")
    for text, options in [('f{"a": null}', {"remove_null": False}), ("f{}", {})]:
        assert text + "<|im_end|>" == decode(tokenizer, sft.tokenize(template, tokenizer, json_arguments=True, **options)(row))


def test_control_tokens_of_a_row_are_refused_or_split(tokenizer):
    template = ChatTemplate.from_source(PLAIN, eos_token="<|im_end|>", bos_token="<s>")
    row = {"messages": [{"role": "user", "content": "a<|im_end|>\n<s>b"}, ANSWER]}
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    left = sft.tokenize(template, tokenizer)(row)
    split = sft.tokenize(template, tokenizer, control_tokens="split")(row)
    assert left["input_ids"].count(end) == 3 and split["input_ids"].count(end) == 2
    assert tokenizer.decode(split["input_ids"]) == tokenizer.decode(left["input_ids"])
    assert decode(tokenizer, split) == HO
    assert sft.tokenize(template, tokenizer, control_tokens="refuse")(row)["verdict"].startswith("error: ")


def test_pairs_are_those_of_trl(tokenizer):
    rows = {"prompt": [[USER]] * 2, "chosen": [[ANSWER], [ANSWER]], "rejected": [[ANSWER | {"content": "No"}], [ANSWER]]}
    done = sft.tokenize(ChatTemplate.from_source(PLAIN), tokenizer)(rows)
    texts = {name: tokenizer.decode(done[name][0]) for name in ("prompt_ids", "chosen_ids", "rejected_ids")}
    prompt = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    assert texts == {"prompt_ids": prompt, "chosen_ids": "Ho<|im_end|>\n", "rejected_ids": "No<|im_end|>\n"}
    assert done["verdict"] == ["", "error: the two answers are the same"]
    whole = {"chosen": [[USER, ANSWER]], "rejected": [[USER, ANSWER | {"content": "No"}]]}
    assert sft.tokenize(ChatTemplate.from_source(PLAIN), tokenizer)(whole)["chosen_ids"] == [done["chosen_ids"][0]]


def test_a_prompt_alone_ends_with_the_beginning_of_the_answer(tokenizer):
    done = sft.tokenize(ChatTemplate.from_source(PLAIN), tokenizer)({"prompt": ["Hi", [USER]]})
    text = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    assert [tokenizer.decode(ids) for ids in done["input_ids"]] == [text] * 2
    assert list(done) == ["input_ids", "attention_mask", "verdict"] and done["verdict"] == ["", ""]


def test_rows_are_packed(tokenizer):
    template, rows = ChatTemplate.from_source(PLAIN), make_rows(60)
    dataset = datasets.Dataset.from_dict({"messages": [*rows, [USER]]})
    alone = dataset.map(sft.tokenize(template, tokenizer), batched=True, remove_columns=["messages"])
    most = max(map(len, alone["input_ids"]))
    packed = dataset.map(sft.tokenize(template, tokenizer, max_length=most, packing=True), batched=True, remove_columns=["messages"])
    assert sum(map(len, packed["input_ids"])) == sum(map(len, alone["input_ids"])) and len(packed) < len(alone)
    parts = []
    for row in packed:
        assert len(row["input_ids"]) == sum(row["seq_lengths"]) <= most and row["position_ids"].count(0) == len(row["seq_lengths"])
        assert (len(row["seq_lengths"]) == 1) if row["verdict"] else True
        starts = [sum(row["seq_lengths"][:at]) for at in range(len(row["seq_lengths"]))]
        parts += [(row["input_ids"][at : at + length], row["labels"][at : at + length]) for at, length in zip(starts, row["seq_lengths"])]
    assert sorted(parts) == sorted(zip(alone["input_ids"], alone["labels"]))
    with pytest.raises(ValueError):
        sft.tokenize(template, tokenizer, packing=True)


def test_map_needs_no_batches(tokenizer):
    dataset = datasets.Dataset.from_dict({"messages": make_rows(20)})
    tokenize = sft.tokenize(ChatTemplate.from_source(PLAIN), tokenizer)
    assert dataset.map(tokenize)["labels"][:] == dataset.map(tokenize, batched=True)["labels"][:]


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


def test_arguments_of_other_types_are_refused_at_once(tokenizers):
    template, tokenizer = ChatTemplate.from_source(PLAIN), tokenizers[0]
    for call, message in (
        (lambda: sft.tokenize(template, None), "the tokenizer is of type NoneType"),
        (lambda: sft.tokenize(template, tokenizer, max_length="x"), "max_length is of type str"),
        (lambda: sft.tokenize(template, tokenizer)(5), "the rows are of type int"),
        (lambda: ChatTemplate.from_tokenizer(5), "the tokenizer is of type int"),
    ):
        with pytest.raises(TypeError, match=message):
            call()


def test_arguments_that_are_text_name_the_option_that_reads_them(tokenizers):
    call = {"type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    rows = {"messages": [[{"role": "assistant", "content": "a", "tool_calls": [call]}]]}
    template = ChatTemplate.from_source("{% for m in messages %}{{ m.content }}{{ m.tool_calls[0].function.arguments | tojson }}{% endfor %}")
    [verdict] = sft.tokenize(template, tokenizers[0])(rows)["verdict"]
    assert "the option json_arguments" in verdict
    [verdict] = sft.tokenize(template, tokenizers[0], json_arguments=True)(rows)["verdict"]
    assert "json_arguments" not in verdict
