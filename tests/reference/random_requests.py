"""Compares a port with transformers over random `apply` requests, whose arguments have odd shapes.

    python tests/reference/random_requests.py [--seed N] [--count N] [--port 'target/release/chat-template port']

The answers are compared as those of cases are: the text, the spans, and the kind, text and line of an error. A port answers no batch of
conversations: if it says so, only that it comes so far is compared. With `--show`, each request and both answers are printed.
"""

import argparse
import json
import random
import shlex
import sys

import engine
import port
import transformers
from differences import Differences
from masks import ask

NO_BATCH = "the messages are a list of conversations; pass such a list to apply_batch"

TEMPLATES = [
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}\n{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
    "{{ bos_token }}{% for m in messages %}[{{ m['role'] }}] {{ m['content'] | trim }}\n{% endfor %}",
    "{{ messages }}|{{ tools }}|{{ documents }}|{{ add_generation_prompt }}",
    "{{ messages | tojson }}{{ tools | tojson(indent=2) }}{{ documents | tojson }}",
    "{% for m in messages %}{{ loop.index0 }}{% for k, v in m.items() %}{{ k }}={{ v }};{% endfor %}{% endfor %}{# content #}",
    "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for part in m.content %}{{ part.text }}{% endfor %}{% endif %}</s>{% endfor %}",
    "{% for m in messages %}{% if m.thinking is defined %}<think>{{ m.thinking }}</think>{% endif %}{{ m.content }}{% endfor %}",
    "{% for m in messages %}{{ m.reasoning_content }}{{ m.reasoning }}!{{ m.content }}{% endfor %}",
    "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}{% endfor %}",
    "{%- generation -%}{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}{%- endgeneration -%}",
    "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + m.content | length %}{% endfor %}{{ ns.n }}",
    "{% for t in tools %}{{ t.function.name }}({{ t.function.parameters | tojson }}){% endfor %}{{ messages[-1].content }}",
    "{% for d in documents %}{{ d.title }}: {{ d.text }}{% endfor %}{{ messages[0].content[:5] }}",
    "{{ raise_exception('no ' ~ messages[0].role) }}",
    "{{ unk_token }}{{ pad_token }}{{ cls_token }}{{ image_token }}{{ boi_token }}{{ additional_special_tokens }}{{ x }}{{ enable_thinking }}",
    "{% if messages[0].role == 'system' %}{{ messages[0].content }}{% set messages = messages[1:] %}{% endif %}{{ messages | length }}",
    "{% for m in messages %}{{ m.tool_calls[0].function.arguments | items | list }}{{ m.content }}{% endfor %}",
    "{{ strftime_now('%Y-%m-%d') }}{{ messages[0].content.split('a')[0] }}",
    "{% for m in messages %}{{ m.content }}\n\n{% endfor %}content{{ undefined.x }}",
    "{% for m in messages %}{{ m.content }}{% endfo %}",
    "{{ messages",
    "content",
    "",
]
NAMES = ["default", "tool_use", "rag", "", "é"]
# Names of special tokens and of variables; some are those of arguments and of local names of transformers' functions.
TOKENS = ["bos_token", "eos_token", "unk_token", "pad_token", "cls_token", "sep_token", "mask_token", "image_token", "boi_token", "x", "é"]
TAKEN = ["messages", "conversations", "compiled_template", "self", "range", "dict", "namespace"]
TAKEN_BY_ARGUMENTS = ["tools", "documents", "add_generation_prompt", "continue_final_message"]
VARIABLES = ["enable_thinking", "x", "bos_token", "eos_token", "loop", "raise_exception", "strftime_now", "now", *TAKEN]
ROLES = ["system", "user", "assistant", "tool", "developer", "", "user"]
TEXTS = ["Hi", "", " ", "Hi there \n", "\ta", "é👍", "a'b", 'say "x"', "<|user|>", "</s>", "{{ x }}", "CONTINUE_FINAL_MESSAGE_TAG ", "\u3000x\xa0", "\x00", "a\r\nb", "<think>x</think>y", "𐐀\u200b", "\U0001fae8"]
NUMBERS = [0, 1, -1, 7, 1.0, 0.0, -0.0, 2.5, 1e300, 12345678901234567890123, float("nan"), float("inf")]
FIELDS = ["role", "content", "thinking", "reasoning", "reasoning_content", "tool_calls", "name", "tool_call_id", "text", "messages", "items"]
REASONING = ["thinking", "reasoning", "reasoning_content"]


class Generator:
    """Makes requests from a seed."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def often(self, share):
        return self.rng.random() < share

    def any_value(self, depth=3):
        """A JSON value of any type."""
        kind = self.rng.choice(["null", "bool", "number", "text", "text", "list", "object"] if depth else ["null", "bool", "number", "text"])
        if kind == "list":
            return [self.any_value(depth - 1) for _ in range(self.rng.randint(0, 3))]
        if kind == "object":
            return {self.rng.choice(FIELDS + TEXTS): self.any_value(depth - 1) for _ in range(self.rng.randint(0, 3))}
        return {"null": None, "bool": self.often(0.5), "number": self.rng.choice(NUMBERS), "text": self.rng.choice(TEXTS)}[kind]

    def part(self):
        if self.often(0.2):
            return self.any_value(2)
        part = {"type": "text", "text": self.rng.choice(TEXTS)}
        if self.often(0.2):
            part["text"] = self.any_value(1)
        if self.often(0.2):
            del part["text"]
        return part

    def content(self):
        choice = self.rng.random()
        if choice < 0.65:
            return self.rng.choice(TEXTS)
        return [self.part() for _ in range(self.rng.randint(0, 3))] if choice < 0.85 else self.any_value()

    def tool(self):
        parameters = {"type": "object", "properties": {"a": {"type": "string", "description": self.rng.choice(TEXTS)}}}
        return {"type": "function", "function": {"name": self.rng.choice(TEXTS), "parameters": parameters}}

    def call(self):
        arguments = self.rng.choice([{"a": self.any_value(1)}, "{\"a\": 1}", {}, None])
        return {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": arguments}}

    def message(self):
        if self.often(0.02):
            return self.any_value()
        message = {"role": self.rng.choice(ROLES), "content": self.content()}
        if self.often(0.1):
            del message[self.rng.choice(list(message))]
        for name in REASONING:
            if self.often(0.15):
                message[name] = self.rng.choice([self.rng.choice(TEXTS), "same", self.content()])
        if self.often(0.15):
            message["tool_calls"] = [self.call() for _ in range(self.rng.randint(0, 2))]
        if self.often(0.15):
            message[self.rng.choice(FIELDS + TEXTS)] = self.any_value(2)
        if self.often(0.2):
            message = dict(self.rng.sample(list(message.items()), len(message)))
        return message

    def conversation(self):
        return [self.message() for _ in range(0 if self.often(0.02) else self.rng.choice([1, 1, 2, 2, 3, 5]))]

    def messages(self):
        choice = self.rng.random()
        if choice < 0.94:
            return self.conversation()
        if choice < 0.98:
            return [self.rng.choice([self.conversation(), self.conversation(), self.any_value()]) for _ in range(self.rng.randint(1, 3))]
        return self.rng.choice([self.any_value(), self.message(), {"messages": self.conversation()}])

    def objects(self, make):
        """Tools or documents: mostly a list of objects."""
        if self.often(0.1):
            return self.any_value()
        return [self.any_value(1) if self.often(0.05) else make() for _ in range(self.rng.randint(0, 2))]

    def template(self):
        if self.often(0.75):
            return self.rng.choice(TEMPLATES)
        names = self.rng.sample(NAMES, self.rng.randint(0, 4))
        return {name: self.rng.choice(TEMPLATES) for name in names + (["default"] if self.often(0.7) else [])}

    def request(self, number):
        apply = {"template": self.template(), "messages": self.messages()}
        if self.often(0.15):
            apply["template_name"] = self.rng.choice([None, *NAMES, *TEMPLATES])
        if self.often(0.3):
            apply["tools"] = self.objects(self.tool)
        if self.often(0.2):
            apply["documents"] = self.objects(lambda: {"title": self.rng.choice(TEXTS), "text": self.content()})
        if self.often(0.3):
            apply["add_generation_prompt"] = self.any_value(1) if self.often(0.2) else self.often(0.7)
        if self.often(0.05 if apply.get("add_generation_prompt") else 0.35):
            fields = [True, True, True, False, *REASONING, "content", *FIELDS]
            apply["continue_final_message"] = self.any_value(1) if self.often(0.1) else self.rng.choice(fields)
        if self.often(0.6):
            names = self.rng.sample(TOKENS + (TAKEN + TAKEN_BY_ARGUMENTS if self.often(0.1) else []), self.rng.randint(0, 4))
            apply["special_tokens"] = {name: self.rng.choice([None, "", "<s>", "</s>", *TEXTS]) for name in names}
        if self.often(0.3):
            names = self.rng.sample(VARIABLES[:6] if self.often(0.8) else VARIABLES, self.rng.randint(0, 3))
            apply["variables"] = {name: self.any_value(2) for name in names}
        request = {"id": number, "apply": apply, "now": "2026-01-02T03:04:05"}
        return request | {"generation": True} if self.often(0.05 if apply.get("continue_final_message") else 0.35) else request


def compared(answer):
    """The parts of an answer that the reference has too."""
    if "error" in answer:
        return {"error": {key: answer["error"].get(key) for key in ("kind", "message", "line")}}
    return {key: answer[key] for key in ("output", "generation") if key in answer}


def is_unanswered(reference, other):
    """Whether the port refuses a batch. The reference refuses a message of it that is no object before that."""
    return NO_BATCH in other.get("error", {}).get("message", "") and "but got" not in reference.get("error", {}).get("message", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--port", default="target/release/chat-template port", help="the command of the port")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--show", action="store_true", help="prints all requests with their answers")
    arguments = parser.parse_args()
    engine.require_versions()
    transformers.logging.set_verbosity_error()
    generator = Generator(arguments.seed)
    requests = [generator.request(number) for number in range(arguments.count)]
    others = ask(requests, shlex.split(arguments.port))
    differences, counts = Differences(), {"prompts": 0, "errors": 0, "batches": 0}
    for request in requests:
        # Spans are tuples before.
        reference = compared(json.loads(json.dumps(port.answer(json.dumps(request)))))
        other = compared(others[request["id"]])
        counts["errors" if "error" in reference else "prompts"] += 1
        if arguments.show:
            print(json.dumps(request), json.dumps(reference), json.dumps(other), sep="\n")
        if is_unanswered(reference, other):
            counts["batches"] += 1
        elif reference != other:
            differences.add(request, reference, other)
    faults = differences.report()
    print(f"{len(requests)} requests of seed {arguments.seed} compared, {counts}, {faults} differ")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
