"""Asks the example server with the official clients of OpenAI and Anthropic, and checks that it accepts what they send.

    python3 tests/examples/server/clients.py target/server/debug/chat-template-server

The server listens on the loopback. Each prompt must have every text of its request.
"""

import json
import subprocess
import sys

import anthropic
import openai

MODEL = "tests/models/jinja"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "description": "The city."}}, "required": ["city"]}
FUNCTION = {"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA}
PIXEL = "data:image/png;base64,iVBORw0KGgo="


def check(what, answer, prompt, *texts):
    """Checks that a prompt has the texts, or that the answer says what it dropped."""
    extra = answer.model_extra
    dropped = [change["path"] for change in extra["changes"] if change["kind"] == "dropped"]
    lost = [text for text in texts if text not in prompt]
    print(f"{what}: {len(prompt)} characters, {len(extra['changes'])} changes, dropped {dropped}")
    assert not lost or dropped, (what, lost, prompt)
    assert "".join(piece["text"] for piece in extra["pieces"]) == prompt, what
    assert "'type': 'text'" not in prompt, (what, prompt)


def ask_chat(client):
    create = client.chat.completions.create

    def ask(what, *texts, **body):
        answer = create(model="m", **body)
        check(f"chat, {what}", answer, answer.choices[0].message.content, *texts)
        return answer

    ask("text", "Hello", messages=[{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hello"}])
    parts = [{"type": "text", "text": "What"}, {"type": "image_url", "image_url": {"url": PIXEL}}, {"type": "text", "text": "is this?"}]
    ask("parts", "What", "is this?", messages=[{"role": "user", "content": parts}])
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Paris"}'}}
    messages = [
        {"role": "user", "content": "How warm is it?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "21 degrees"}]},
    ]
    tools = [{"type": "function", "function": FUNCTION}]
    ask("tools", "How warm", "21 degrees", messages=messages, tools=tools, reasoning_effort="low", max_completion_tokens=5)
    custom = {"id": "call_1", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    messages[1:] = [{"role": "assistant", "tool_calls": [custom]}, {"role": "tool", "tool_call_id": "call_1", "content": "Done"}]
    tools.append({"type": "custom", "custom": {"name": "patch", "description": "Edits a file."}})
    ask("a custom tool", "patch", "*** Begin", "Done", messages=messages, tools=tools)
    old = [messages[0], {"role": "assistant", "function_call": call["function"]}, {"role": "function", "name": "weather", "content": "21"}]
    ask("functions", "How warm", "Paris", "21", messages=old, functions=[FUNCTION])
    # The server reads `sampled` as what the model wrote.
    template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls %}<call>{{ c.function|tojson }}</call>"
    template += "{% endfor %}<end>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
    sampled = 'Wait. <call>{"name": "weather", "arguments": {"city": "Paris"}}</call><end>'
    own = {"chat_template": template, "sampled": sampled}
    chunks = [chunk.choices[0] for chunk in create(model="m", messages=messages[:1], stream=True, extra_body=own)]
    assert "".join(chunk.delta.content or "" for chunk in chunks) == "Wait.", chunks
    functions = [call.function for chunk in chunks for call in chunk.delta.tool_calls or []]
    assert [function.name for function in functions if function.name] == ["weather"], chunks
    assert json.loads("".join(function.arguments or "" for function in functions)) == {"city": "Paris"}, chunks
    assert chunks[-1].finish_reason == "tool_calls", chunks
    # What a client sends back is the answer that it got.
    answer = ask("text", "Hi", messages=[{"role": "user", "content": "Hi"}])
    again = [{"role": "user", "content": "Hi"}, answer.choices[0].message, {"role": "user", "content": "More"}]
    ask("the answer sent back", "More", messages=again)
    try:
        create(model="m", messages=[{"role": "critic", "content": "1"}])
    except openai.BadRequestError as error:
        assert error.param == "/messages/0/role", error
    else:
        raise AssertionError("an unknown role is taken")


def ask_responses(client):
    create = client.responses.create

    def ask(what, *texts, **body):
        answer = create(model="m", **body)
        check(f"responses, {what}", answer, answer.output_text, *texts)
        return answer

    ask("text", "Be brief.", "Hello", instructions="Be brief.", input="Hello")
    parts = [{"type": "input_text", "text": "What is this?"}, {"type": "input_image", "image_url": PIXEL, "detail": "auto"}]
    items = [
        {"role": "user", "content": parts},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": '{"city": "Paris"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "21 degrees"},
    ]
    tools = [dict(FUNCTION, type="function", strict=True), {"type": "web_search"}]
    ask("items", "What is this?", "21 degrees", input=items, tools=tools, reasoning={"effort": "low"})
    run = [
        {"role": "user", "content": "Look."},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "score"}},
        {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "container_id": "c", "code": "6*7", "outputs": [{"type": "logs", "logs": "42"}]},
        {"type": "shell_call", "call_id": "sh_1", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "sh_1", "output": [{"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]},
        {"type": "custom_tool_call", "call_id": "cu_1", "name": "patch", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "cu_1", "output": "Done"},
    ]
    ask("calls of every kind", "Look.", "score", "6*7", "42", "ls", "a.txt", "*** Begin", "Done", input=run, tools=tools)
    try:
        create(model="m", input=[{"type": "item_reference", "id": "msg_1"}])
    except openai.BadRequestError as error:
        assert error.param == "/input/0/id", error
    else:
        raise AssertionError("an item that is stored elsewhere is taken")
    answer = ask("text", "Hi", input="Hi")
    ask("the answer sent back", "More", input=[{"role": "user", "content": "Hi"}, *answer.output, {"role": "user", "content": "More"}])


def ask_messages(client):
    create = client.messages.create

    def ask(what, *texts, **body):
        answer = create(model="m", max_tokens=100, **body)
        check(f"messages, {what}", answer, answer.content[0].text, *texts)
        return answer

    ask("text", "Be brief.", "Hello", system="Be brief.", messages=[{"role": "user", "content": "Hello"}])
    cache = {"cache_control": {"type": "ephemeral"}}
    system = [{"type": "text", "text": "You are a tool."}, {"type": "text", "text": "Be brief.", **cache}]
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I look.", "signature": "s"},
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Paris"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "21 degrees"}], **cache},
                {"type": "text", "text": "And now?"},
            ],
        },
    ]
    tools = [{"name": "weather", "description": "Tells the weather.", "input_schema": SCHEMA, **cache}]
    texts = ["You are a tool.", "Be brief.", "What is this?", "Let me see.", "21 degrees", "And now?"]
    ask("blocks", *texts, system=system, messages=messages, tools=tools, thinking={"type": "enabled", "budget_tokens": 1024})
    search = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "score"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result", "url": "https://e.org", "title": "It was 3-1", "encrypted_content": "zzz"}]},
        {"type": "text", "text": "3-1."},
    ]
    searched = [{"role": "user", "content": "Who won?"}, {"role": "assistant", "content": search}, {"role": "user", "content": "And before?"}]
    ask("a search of the server", "Who won?", "score", "It was 3-1", "3-1.", "And before?", messages=searched)
    prefilled = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "One, two,"}]
    answer = ask("a prefilled answer", "Count.", messages=prefilled)
    assert answer.content[0].text.endswith("One, two,"), answer
    answer = ask("text", "Hi", messages=[{"role": "user", "content": "Hi"}])
    again = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": answer.content}, {"role": "user", "content": "More"}]
    ask("the answer sent back", "More", messages=again)
    try:
        create(model="m", max_tokens=1, messages=[{"role": "user", "content": [{"type": "image", "source": {"type": "file", "file_id": "x"}}]}])
    except anthropic.BadRequestError as error:
        assert json.loads(error.response.text)["error"]["param"] == "/messages/0/content/0/source/file_id", error
    else:
        raise AssertionError("a file that is stored elsewhere is taken")


def main():
    server = subprocess.Popen([sys.argv[1], MODEL, "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[-1]
        options = {"api_key": "none", "max_retries": 0}
        ask_chat(openai.OpenAI(base_url=f"{url}/v1", **options))
        ask_responses(openai.OpenAI(base_url=f"{url}/v1", **options))
        ask_messages(anthropic.Anthropic(base_url=url, **options))
    finally:
        server.kill()
        server.wait()
    print("all is well")


if __name__ == "__main__":
    main()
