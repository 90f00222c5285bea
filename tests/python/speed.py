#!/usr/bin/env python3
"""Compares the time of the package with that of transformers, and looks at the memory of many renders.

    python3 tests/python/speed.py [TEMPLATE]      in an environment with the wheel and requirements.txt

The template is a file; without one, it is that of the family with tools.
"""

import pathlib
import resource
import sys
import time

from conftest import FAMILIES, WORDS, make_rows, train_byte_level

from chat_template import ChatTemplate, sft


def fastest(call, tries=7):
    seconds = []
    for _ in range(tries):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def memory():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def main():
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FAMILIES / "tools.jinja"
    tokenizer = train_byte_level()
    tokenizer.chat_template = path.read_bytes().decode()
    template = ChatTemplate.from_source(tokenizer.chat_template, **tokenizer.special_tokens_map)
    messages = [{"role": role, "content": f"{WORDS[i % 6]} " * 10} for i in range(5) for role in ("user", "assistant")]
    batch = [messages] * 1000

    def theirs(conversation):
        return tokenizer.apply_chat_template(conversation, tokenize=False)

    assert theirs(messages) == template.apply_chat_template(messages)
    one = [fastest(lambda: [call(messages) for _ in range(300)]) / 300 for call in (theirs, template.apply_chat_template)]
    print(f"one render of 10 messages: {one[0] * 1e6:.0f} and {one[1] * 1e6:.1f} microseconds, {one[0] / one[1]:.1f} times")
    many = [fastest(lambda: call(batch), 5) for call in (theirs, template.apply_chat_template)]
    print(f"a batch of 1000: {many[0] * 1e3:.0f} and {many[1] * 1e3:.1f} milliseconds, {many[0] / many[1]:.1f} times")

    rows = {"messages": make_rows(2000)}
    texts = template.apply_chat_template(rows["messages"])
    tokenize = sft.tokenize(template, tokenizer)
    alone = fastest(lambda: tokenizer(texts, add_special_tokens=False), 5)
    with_labels = fastest(lambda: tokenize(rows), 5)
    print(f"2000 rows: the tokenizer alone {alone * 1e3:.0f} ms, sft.tokenize {with_labels * 1e3:.0f} ms, {with_labels / alone:.2f} times")

    sizes = []
    for _ in range(10):
        for _ in range(100_000):
            template.apply_chat_template(messages)
        sizes.append(memory())
    print("MiB after each 100 000 of 1 000 000 renders:", " ".join(f"{size:.1f}" for size in sizes))


if __name__ == "__main__":
    main()
