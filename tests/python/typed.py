"""What type checkers know of the package: `pyright` checks this file, and nothing runs it."""

from typing import Any, assert_type

from chat_template import ChatTemplate, Options, Prepared, Prompt, TemplateError, __version__, sft

template = ChatTemplate.from_source("x", bos_token="<s>", limits={"steps": None})
messages = [{"role": "user", "content": "Hi"}]
assert_type(template.apply_chat_template(messages, tokenize=False), str)
assert_type(template.apply_chat_template([messages], tokenize=False, add_generation_prompt=True), list[str])
assert_type(template.apply_chat_template(messages, return_dict=False, padding=True, enable_thinking=False), Any)
prompt = template.render(messages, options=Options(control_tokens="split"))
assert_type(prompt, Prompt)
assert_type(prompt.assistant_spans, list[tuple[int, int]])
assert_type(template.prepare({"messages": messages}), Prepared)
assert_type(template.prepare({"messages": messages}).render()[0], Prompt)
tokenize = sft.tokenize(template, object(), truncate="never", control_tokens="refuse")
assert_type(tokenize({"messages": messages}), dict[str, Any])
assert_type(__version__, str)
try:
    template.check()
except TemplateError as error:
    assert_type(error.line, int | None)
