"""`apply_chat_template` takes the place of the tokenizer's own: the same tokens, masks and exceptions, also in other processes."""

import copy
import inspect
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import datasets
import numpy
import pytest
from conftest import GENERATION, PLAIN, make_rows

from chat_template import ChatTemplate, RequestError

WAYS = [
    {},
    {"add_generation_prompt": True},
    {"return_dict": False},
    {"padding": True},
    {"padding": "max_length", "max_length": 90},
    {"padding": True, "return_tensors": "np"},
    {"truncation": True, "max_length": 9},
    {"tokenizer_kwargs": {"return_offsets_mapping": True, "return_length": True}},
    {"return_assistant_tokens_mask": True},
    {"return_assistant_tokens_mask": True, "truncation": True, "max_length": 20},
    {"return_assistant_tokens_mask": True, "padding": True, "return_tensors": "np"},
    {"tokenize": False, "return_dict": True, "padding": True},
]
ROWS = make_rows(12)


def plain(encoded):
    if isinstance(encoded, (str, list)):
        return encoded
    return {key: value.tolist() if isinstance(value, numpy.ndarray) else value for key, value in encoded.items()}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())) or "default")
@pytest.mark.parametrize("kind", [0, 1], ids=["byte-level", "byte-fallback"])
def test_tokens_are_those_of_transformers(tokenizers, kind, way):
    tokenizer = tokenizers[kind]
    tokenizer.chat_template, tokenizer.pad_token = GENERATION, "<unk>"
    template = ChatTemplate.from_tokenizer(tokenizer)
    for conversation in (*ROWS[:4], ROWS, tuple(ROWS[:2])):
        if "tensors" not in str(way) or way.get("padding") is True:
            assert plain(template.apply_chat_template(conversation, **way)) == plain(tokenizer.apply_chat_template(conversation, **way))


def test_a_mask_needs_no_generation_blocks(tokenizer):
    masks = []
    for source in (GENERATION, PLAIN):
        tokenizer.chat_template = source
        template = ChatTemplate.from_tokenizer(tokenizer)
        masks.append(template.apply_chat_template(ROWS[3], return_assistant_tokens_mask=True)["assistant_masks"])
    # The blocks of the first template also have the line breaks after the end tokens.
    assert sum(masks[1]) == sum(masks[0]) - sum(message["role"] == "assistant" for message in ROWS[3])
    assert all(one >= other for one, other in zip(*masks))


@pytest.mark.parametrize("way", [
    {"return_assistant_tokens_mask": True, "return_dict": False},
    {"return_assistant_tokens_mask": True, "tokenize": False},
    {"return_assistant_tokens_mask": True, "continue_final_message": True},
])  # fmt: skip
def test_the_same_calls_are_refused(tokenizer, way):
    tokenizer.chat_template = GENERATION
    with pytest.raises(ValueError) as expected:
        tokenizer.apply_chat_template(ROWS[0], **way)
    with pytest.raises(RequestError) as found:
        ChatTemplate.from_tokenizer(tokenizer).apply_chat_template(ROWS[0], **way)
    assert found.value.message == str(expected.value)


def test_all_arguments_of_transformers_are_taken(tokenizer):
    tokenizer.chat_template = PLAIN
    parameters = inspect.signature(tokenizer.apply_chat_template).parameters.values()
    defaults = {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty}
    assert len(defaults) == 14
    expected = tokenizer.apply_chat_template(ROWS[0], **defaults)
    assert plain(ChatTemplate.from_tokenizer(tokenizer).apply_chat_template(ROWS[0], **defaults)) == plain(expected)


def apply(template):
    return template.apply_chat_template(ROWS, return_dict=False)


def test_processes_and_threads_make_the_same_tokens(tokenizer):
    tokenizer.chat_template = PLAIN
    template = ChatTemplate.from_tokenizer(tokenizer)
    expected = tokenizer.apply_chat_template(ROWS, return_dict=False)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(apply, [template] * 8)) == [expected] * 8
    for method in ("fork", "spawn"):
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
            assert list(pool.map(apply, [template] * 4)) == [expected] * 4


def test_a_tokenizer_with_the_method_is_pickled(tokenizer):
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.chat_template = PLAIN
    expected = tokenizer.apply_chat_template(ROWS, return_dict=False)
    tokenizer.apply_chat_template = ChatTemplate.from_tokenizer(tokenizer).apply_chat_template
    for other in (tokenizer, pickle.loads(pickle.dumps(tokenizer)), copy.deepcopy(tokenizer)):
        assert other.apply_chat_template(ROWS, return_dict=False) == expected
    rows = datasets.Dataset.from_dict({"messages": ROWS})
    done = rows.map(lambda row: {"ids": tokenizer.apply_chat_template(row["messages"])["input_ids"]}, num_proc=2)
    assert done["ids"][:] == expected
