"""Which Python objects are converted, and which exceptions the others raise."""

import collections
import copy
import dataclasses
import datetime
import enum
import pickle
import random
import subprocess
import sys
import threading
import time

import pydantic
import pytest
from conftest import GENERATION, MODELS, PLAIN, make_rows

from chat_template import (
    AnswerError,
    CancelFlag,
    ChatTemplate,
    LimitError,
    MismatchError,
    Options,
    RefusedError,
    RequestError,
    TemplateError,
    TemplateFaultError,
    sft,
)


@dataclasses.dataclass
class Message:
    role: str
    content: object


class Model(pydantic.BaseModel):
    role: str
    content: object


class Role(str, enum.Enum):
    USER = "user"


class Number(enum.IntEnum):
    ONE = 1


SHOWN = "{% for m in messages %}{{ m }}{% endfor %}"
VALUES = [
    1 << 200, -(1 << 63), 1 << 63, 0.1, float("inf"), float("nan"), True, None, (1, (2,)), [1, [None]], {"a": {"b": ()}}, Role.USER, Number.ONE,
    collections.OrderedDict(a=1), collections.UserDict(a=1), Message("tool", [1]), Model(role="user", content=(1, 2)), "é🙂\0",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_are_shown_as_by_transformers(tokenizer, value):
    tokenizer.chat_template = SHOWN
    template = ChatTemplate.from_tokenizer(tokenizer)
    for messages in ([{"role": "user", "content": value}], [Message("user", value)], ({"role": "user", "x": [value]},)):
        assert template.apply_chat_template(messages, tokenize=False) == tokenizer.apply_chat_template(messages, tokenize=False)


def test_a_function_is_a_tool(tokenizer):
    def weather(city: str) -> str:
        """Returns the weather.

        Args:
            city: The city.
        """
        return city

    tokenizer.chat_template = "{{ tools|tojson }}"
    messages = [{"role": "user", "content": "Hi"}]
    expected = tokenizer.apply_chat_template(messages, tools=[weather], tokenize=False)
    assert ChatTemplate.from_tokenizer(tokenizer).apply_chat_template(messages, tools=[weather], tokenize=False) == expected


def test_errors_name_the_place():
    template = ChatTemplate.from_source(SHOWN)
    messages = [{"role": "user", "content": "Hi"}] * 3
    with pytest.raises(TypeError, match=r'messages\[3\]\["content"\]\[0\] is of type object'):
        template.apply_chat_template([*messages, {"role": "user", "content": [object()]}])
    with pytest.raises(TypeError, match="has a key of type int"):
        template.apply_chat_template([{1: 2}])
    with pytest.raises(RequestError, match="lone surrogate at index 1") as caught:
        template.apply_chat_template([{"role": "user", "content": "a\ud83d"}])
    assert caught.value.path == "/messages/0/content"
    circle = []
    circle.append([circle, circle])
    with pytest.raises(LimitError, match="contains itself"):
        template.apply_chat_template([{"role": "user", "content": circle}])
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(LimitError, match="nested"):
        template.apply_chat_template([{"role": "user", "content": deep}])
    wide = []
    for _ in range(60):
        wide = [wide, wide]
    with pytest.raises(LimitError, match="bytes"):
        template.apply_chat_template([{"role": "user", "content": wide}])


def test_exceptions_have_their_fields():
    def raised(source, messages=[{"role": "user", "content": "Hi"}], **how):  # noqa: B006 it is not changed
        with pytest.raises(TemplateError) as caught:
            ChatTemplate.from_source(source).apply_chat_template(messages, **how)
        error = pickle.loads(pickle.dumps(caught.value))
        assert type(error) is type(caught.value) and error.kind == caught.value.kind and str(error) == str(caught.value)
        return type(error), error.kind, error.line, error.path

    assert raised("{{ raise_exception('No!') }}") == (RefusedError, "raised", 1, None)
    assert raised("\n{{ 1 + }}") == (TemplateFaultError, "syntax", 2, None)
    assert raised("{{ messages[0].content + 1 }}") == (MismatchError, "type", 1, "/messages/0/content")
    assert raised("x", []) == (RequestError, "value", None, None)
    assert raised("x", ["Hi"])[:2] == (RequestError, "type")
    assert raised("x", return_assistant_tokens_mask=True)[0] is RequestError
    assert raised("{% for i in range(10 ** 5) %}{% for j in range(10 ** 5) %}{% endfor %}{% endfor %}")[:2] == (LimitError, "limit")
    assert issubclass(TemplateError, ValueError)


def test_the_arguments_of_a_tokenizer_do_nothing(tokenizer):
    tokenizer.chat_template = PLAIN
    template, messages = ChatTemplate.from_tokenizer(tokenizer), [{"role": "user", "content": "Hi"}]
    names = {"padding": True, "truncation": False, "max_length": 3, "return_tensors": None, "return_dict": True, "tokenizer_kwargs": None}
    names |= {"return_assistant_tokens_mask": False, "sanitize_control_tokens": False}
    expected = tokenizer.apply_chat_template(messages, tokenize=False, **names)
    assert template.apply_chat_template(messages, tokenize=False, **names) == expected


def test_limits_and_flags_end_calls():
    template = ChatTemplate.from_source("{% for i in range(10 ** 5) %}{{ i }}{% endfor %}")
    messages = [{"role": "user", "content": "Hi"}]
    with pytest.raises(LimitError, match="steps"):
        template.render(messages, options=Options(limits={"steps": 1000}))
    flag = CancelFlag()
    flag.cancel()
    with pytest.raises(LimitError):
        template.apply_chat_template([messages] * 1000, options=Options(cancel=flag))


def test_loading_and_reading_have_limits():
    flag = CancelFlag()
    flag.cancel()
    loops = "{% for i in range(10) %}" * 50 + "{% endfor %}" * 50
    for more in ({"limits": {"steps": 10}}, {"cancel": flag}):
        calls = (
            lambda more=more: ChatTemplate.from_source(loops, **more),
            lambda more=more: ChatTemplate.from_named({"default": loops}, **more),
            lambda more=more: ChatTemplate.from_config({"chat_template": loops}, **more),
            lambda more=more: ChatTemplate.from_source(PLAIN).inspect(**more),
        )
        for call in calls:
            with pytest.raises(LimitError):
                call()
    with pytest.raises(LimitError):
        ChatTemplate.from_pretrained(MODELS / "jinja", cancel=flag)
    description = {"start_anchor": "<", "fields": {"content": {}}}
    with pytest.raises(LimitError):
        ChatTemplate.from_source(PLAIN).parse_response("a" * 100_000, response_template=description, limits={"steps": 10})


class Liar(list):
    def __len__(self):
        return 2**62


class Endless:
    def __iter__(self):
        while True:
            yield None


def test_the_length_of_an_object_is_not_trusted():
    template, messages = ChatTemplate.from_source(PLAIN), [{"role": "user", "content": "Hi"}]
    prompt = template.render(messages)
    assert template.apply_chat_template(Liar(messages)) == prompt.text
    assert [prompt.text for prompt in template.render_batch(Liar([messages]))] == [prompt.text]
    assert prompt.assistant_mask(Liar([(0, 1)])) == [0]
    assert prompt.labels({"input_ids": Liar([1]), "offset_mapping": Liar([(0, 1)])}) == [-100]
    Options(roles=Liar(["user"]), control_roles=Liar(["user"]))
    for how in ({"tools": Endless()}, {"documents": range(10**18)}, {"x": Liar([Endless])}):
        with pytest.raises((LimitError, TypeError)):
            template.apply_chat_template(messages, **how)
    with pytest.raises(LimitError):
        template.render_batch(Endless())


def test_a_small_stack_is_enough():
    deep = 1
    for _ in range(505):
        deep = {"a": deep}
    errors = []

    def work():
        try:
            ChatTemplate.from_source(PLAIN).apply_chat_template([{"role": "user", "content": "Hi"}], x=deep)
            errors.append(None)
        except Exception as error:
            errors.append(error)

    before = threading.stack_size(512 << 10)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    threading.stack_size(before)
    assert errors == [None]


def test_equal_strings_are_told_apart():
    template = ChatTemplate.from_source(PLAIN)
    prompt = template.render([{"role": "user", "content": "Which role?"}, {"role": "assistant", "content": "user"}])
    assert [prompt.text[start:end] for start, end in prompt.assistant_spans] == ["user<|im_end|>"]
    paths = [segment["path"] for segment in prompt.segments if "path" in segment]
    assert paths == ["/messages/0/role", "/messages/0/content", "/messages/1/role", "/messages/1/content"]


def test_a_template_is_pickled_and_copied():
    messages = [{"role": "user", "content": "Hi"}]
    named = ChatTemplate.from_named({"default": "a{{ eos_token }}", "tool_use": "b"}, eos_token="</s>")
    for template in (named, ChatTemplate.from_pretrained(MODELS / "jinja"), ChatTemplate.from_source(GENERATION, bos_token="<s>")):
        for other in (pickle.loads(pickle.dumps(template)), copy.deepcopy(template)):
            assert other.apply_chat_template(messages) == template.apply_chat_template(messages)
            assert (other.special_tokens, other.control_tokens, other.names) == (template.special_tokens, template.control_tokens, template.names)


def same(value):
    return pickle.loads(pickle.dumps(value))


def test_prompts_are_pickled():
    messages = [{"role": "user", "content": "Hï <s>"}, {"role": "assistant", "content": "Ho"}]
    template = ChatTemplate.from_source(GENERATION, bos_token="<s>")
    for source in (GENERATION, "{{ messages|tojson }}"):
        template = ChatTemplate.from_source(source, bos_token="<s>")
        prompt = template.render(messages, options=Options(control_tokens="split"))
        other = same(same(prompt))
        names = [name for name in dir(prompt) if not name.startswith("_") and name not in ("assistant_mask", "labels")]
        assert len(names) == 11
        for name in names:
            assert getattr(other, name) == getattr(prompt, name)
        offsets = [(at, at + 1) for at in range(len(prompt.text))]
        for reference in (True, False):
            assert other.assistant_mask(offsets, reference=reference) == prompt.assistant_mask(offsets, reference=reference)
        assert other._repr_html_() == prompt._repr_html_()


def test_options_are_pickled():
    now = datetime.datetime(2026, 1, 2, 3, 4, 5, 6)
    options = same(Options(roles=["user"], end_token=False, control_tokens="refuse", limits={"steps": 1000}, now=now, cancel=CancelFlag()))
    template = ChatTemplate.from_source(PLAIN + "{{ strftime_now('%Y %f') }}", bos_token="<s>")
    prompt = template.render([{"role": "user", "content": "Hi"}], options=options)
    assert [prompt.text[start:end] for start, end in prompt.assistant_spans] == ["Hi"] and prompt.text.endswith("2026 000006")
    for content in ("<s>", "x" * 100_000):
        with pytest.raises(TemplateError):
            template.render([{"role": "user", "content": content}], options=options)


def test_prepared_requests_are_pickled():
    template = ChatTemplate.from_source(PLAIN)
    messages = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    prepared = template.prepare({"messages": messages}, policy="fit", options=Options(limits={"steps": 100_000}))
    turns = [*messages, {"role": "assistant", "content": "Ho"}, messages[0]]
    for earlier in (prepared, same(prepared)):
        later = template.prepare({"messages": turns}, after=earlier)
        for one in (later, same(later)):
            assert (one.messages, one.changes, one.render()[0].text) == (later.messages, later.changes, later.render()[0].text)
            assert one.after(prepared.render()[0].text, "Ho<|im_end|>") == later.after(prepared.render()[0].text, "Ho<|im_end|>")


def test_each_limit_can_be_none():
    template = ChatTemplate.from_source(PLAIN)
    names = ["steps", "output", "value", "live", "calls", "height", "stack", "source", "width", "bits", "milliseconds"]
    for limits in ({name: None for name in names}, *({name: None} for name in names)):
        options = Options(limits=limits)
        assert template.render([{"role": "user", "content": "Hi"}], options=options).text == same(template).apply_chat_template([{"role": "user", "content": "Hi"}])
    long = [{"role": "user", "content": "x" * (80 << 20)}]
    with pytest.raises(LimitError):
        template.apply_chat_template(long)
    assert len(template.apply_chat_template(long, options=Options(limits=dict.fromkeys(["output", "value", "live"])))) > 80 << 20
    with pytest.raises(LimitError):
        recursive = "{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}"
        ChatTemplate.from_source(recursive).apply_chat_template([{}], options=Options(limits=dict.fromkeys(names)))


def test_a_notebook_shows_a_prompt():
    template = ChatTemplate.from_source(PLAIN)
    html = template.render([{"role": "user", "content": "<Hi&"}, {"role": "assistant", "content": "Ho"}])._repr_html_()
    assert '<span title="/messages/0/content" style="">&lt;Hi&amp;</span>' in html
    assert '<span title="/messages/1/content" style="background: rgba(0, 160, 0, .2); ">Ho</span>' in html


def test_threads_share_a_template():
    template, rows = ChatTemplate.from_source(PLAIN), make_rows(200)
    expected = [template.apply_chat_template(row) for row in rows]
    found = [None] * 8

    def work(index):
        found[index] = [template.apply_chat_template(row) for row in rows]

    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8
    assert template.apply_chat_template(rows) == expected


INTERRUPTED = """
import _thread, signal, threading, time
from chat_template import ChatTemplate
# A shell starts programs in the background with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
template = ChatTemplate.from_source("{% for i in range(100000) %}{{ i }}{% endfor %}")
rows = [[{"role": "user", "content": "Hi"}]] * 5000
threading.Timer(0.5, _thread.interrupt_main).start()
start = time.monotonic()
try:
    template.apply_chat_template(rows)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start < 10)
"""


def test_a_signal_ends_a_batch():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "interrupted True\n"), done.stderr


def test_requests_are_prepared():
    template = ChatTemplate.from_source(PLAIN)
    body = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}
    prepared = template.prepare(body)
    prompt, changes = prepared.render()
    assert prepared.messages == [{"role": "user", "content": "Hi"}] and changes[0]["path"].startswith("/messages/0")
    assert prompt.text == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    with pytest.raises(RequestError):
        template.prepare({})
    assert template.inspect()["roles"]["user"]["string"] == "printed"


def test_a_request_is_counted_and_cut_and_has_a_grammar():
    template = ChatTemplate.from_source("{% for m in messages %}{{ m.content }} {% endfor %}")
    count = lambda text: len(text.split())
    messages = [{"role": role, "content": f"{role} {index}"} for index in range(3) for role in ("user", "assistant")]
    prepared = template.prepare({"messages": messages[:-1], "response_format": {"type": "json_object"}})
    assert prepared.count(count) == 10
    prompt, changes = prepared.fit(5, count)
    assert prompt.text == "user 2 " and [change["path"] for change in changes] == [f"/messages/{index}" for index in range(4)]
    with pytest.raises(RequestError, match="at least 2 tokens"):
        prepared.fit(1, count)
    with pytest.raises(TemplateError, match="no tokens"):
        prepared.count(lambda text: (_ for _ in ()).throw(KeyError("no tokens")))
    assert prepared.grammar()["text"].startswith('root ::= "{"')
    assert template.prepare({"messages": messages}).grammar("lark") is None
    with pytest.raises(ValueError):
        prepared.grammar("bnf")


def test_append_and_parse_response():
    template = ChatTemplate.from_source(PLAIN)
    messages = [{"role": "user", "content": "Hi"}]
    seen = template.apply_chat_template(messages, add_generation_prompt=True)
    messages += [{"role": "assistant", "content": "Ho"}, {"role": "user", "content": "Bye"}]
    new = template.append(messages, seen, "Ho<|im_end|>", add_generation_prompt=True)
    assert new == "\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n"
    with pytest.raises(RequestError, match="differs"):
        template.append(messages, "other")
    description = {"start_anchor": "<|im_start|>assistant\n", "defaults": {"role": "assistant"}, "fields": {"content": {"close": "<|im_end|>"}}}
    assert template.parse_response("Ho<|im_end|>", response_template=description) == {"role": "assistant", "content": "Ho"}
    calls = {"open": "<call>", "close": "</call>", "repeats": True, "content": "json", "transform": {"function": "{content}"}}
    description = {"start_anchor": "<", "fields": {"tool_calls": calls, "content": {}}}
    cut = 'é <call>{"name": "f"'
    with pytest.raises(AnswerError) as caught:
        template.parse_response(cut, response_template=description)
    assert caught.value.kind == "value"
    message = template.parse_response(cut, response_template=description, lenient=True)
    place = {"field": "tool_calls", "reason": "cut", "bytes": [3, 21], "code_points": [2, 20]}
    assert message == {"content": cut, "unread": [place]}


class Broken:
    __dataclass_fields__ = 1

    def model_dump(self):
        raise OSError

    def __iter__(self):
        raise RuntimeError

    def __bool__(self):
        raise RuntimeError


def make_value(rng, depth=0):
    leaves = [
        None, True, -1, 1 << 90, 0.5, float("nan"), "user", "content", "\udcff", b"x", object(), object, {1}, 1j, range(3), Role.USER, Number.ONE,
        Broken(), Message("user", "x"), Model(role="user", content="x"), Message, Model, lambda x: x, iter([1]), bytearray(2), 10**5000, NotImplemented, ...,
    ]  # fmt: skip
    if depth > 3 or rng.random() < 0.4:
        return rng.choice(leaves)
    kind = rng.randrange(4)
    items = [make_value(rng, depth + 1) for _ in range(rng.randrange(3))]
    if kind == 0:
        return items
    if kind == 1:
        return tuple(items)
    keys = ["role", "content", "tool_calls", "messages", "x/y~", "thinking", rng.choice([1, None, "", "\ud800"])]
    return {key: item for key, item in zip(rng.sample(keys, len(items)), items)}


def call_at_random(rng, templates, tokenizer):
    template = rng.choice(templates)
    messages = make_value(rng) if rng.random() < 0.3 else [make_value(rng, 1) for _ in range(rng.randrange(3))]
    if rng.random() < 0.3:
        messages = [{"role": rng.choice(["user", "assistant"]), "content": make_value(rng, 2)}]
    names = ["tools", "documents", "add_generation_prompt", "continue_final_message", "chat_template", "x", "options", "tokenize"]
    names += ["padding", "max_length", "return_dict", "return_assistant_tokens_mask", "tokenizer_kwargs", "sanitize_control_tokens"]
    how = {name: make_value(rng, 2) for name in rng.sample(names, rng.randrange(3))}
    # The tokenizer's own exceptions are of many types.
    sound = {"padding": True, "max_length": 3, "tokenizer_kwargs": {}}
    how |= {name: value for name, value in sound.items() if name in how}
    kind = rng.randrange(11)
    if kind < 3:
        return template.apply_chat_template(messages, **how)
    if kind == 3:
        how.pop("tokenize", None)
        prompt = template.render(messages, **how)
        return prompt.turns, prompt._repr_html_(), same(prompt).turns
    if kind == 4:
        how.pop("tokenize", None)
        return template.render_batch(messages, **how)
    if kind == 5:
        prepared = template.prepare(make_value(rng))
        return prepared.render(), same(prepared).render()
    if kind == 6:
        return template.append(messages, rng.choice(["", "a", make_value(rng, 4)]))
    if kind == 7:
        limits = {rng.choice(["steps", "stack", "milliseconds", "x"]): make_value(rng, 3)}
        return same(Options(limits=limits, roles=make_value(rng, 3), now=make_value(rng, 4)))
    if kind < 10:
        columns = ["messages", "prompt", "completion", "chosen", "rejected", "tools", "chat_template_kwargs", "conversations", "instruction", "output"]
        batch = {name: [messages, make_value(rng, 1)] for name in rng.sample(columns, rng.randrange(1, 4))}
        how = {"max_length": rng.choice([None, 3]), "truncate": rng.choice(["turn", "token"]), "control_tokens": rng.choice(["leave", "split"])}
        return sft.tokenize(template, tokenizer, packing=how["max_length"] is not None, **how)(batch)
    return template.parse_response(rng.choice(["", "x", make_value(rng, 4)]), tools=make_value(rng, 2), response_template=make_value(rng, 2))


def test_random_calls_end_in_a_value_or_a_known_exception(random_calls, tokenizer):
    rng = random.Random(random_calls)
    templates = [ChatTemplate.from_source(source, bos_token="user") for source in (SHOWN, PLAIN, GENERATION, "{{ messages|tojson }}{{ x }}{{ tools }}")]
    tokenizer.chat_template = GENERATION
    templates.append(ChatTemplate.from_tokenizer(tokenizer))
    end = time.monotonic() + 20
    for number in range(random_calls):
        try:
            call_at_random(rng, templates, tokenizer)
        except (ValueError, TypeError) as error:
            assert type(error) is ValueError or isinstance(error, (TemplateError, TypeError))
        if random_calls <= 10_000 and time.monotonic() > end:
            break
    assert number > 100


def test_gguf(tmp_path):
    def string(text):
        return len(text).to_bytes(8, "little") + text.encode()

    value = (8).to_bytes(4, "little") + string("{{ messages[0].content }}")
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF\x03\0\0\0" + bytes(8) + b"\1" + bytes(7) + string("tokenizer.chat_template") + value)
    assert ChatTemplate.from_gguf(file).render([{"role": "user", "content": "Hi"}]).text == "Hi"
    with pytest.raises(TemplateError, match="not a GGUF file"):
        ChatTemplate.from_gguf(__file__)
