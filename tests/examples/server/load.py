"""Asks the example server with honest and hostile clients at once, and checks that each honest request gets its right answer.

    python3 tests/examples/server/load.py target/server/release/chat-template-server [--requests 10000] [--model tests/models/jinja]

In turns, 16 clients send honest requests alone, and as many requests of which every tenth is hostile. Last, 200 hostile requests are sent at
once. An honest client does what the clients of OpenAI and Anthropic do: it keeps its connection, and sends a request again after a
503 when the time in `Retry-After` has passed, or if the connection was closed. A request is lost if it has no right answer after ten
attempts. Prints the figures as JSON, and fails if a request is lost, or the server ends or takes more than 512 MiB.
"""

import argparse
import collections
import http.client
import json
import multiprocessing
import os
import random
import resource
import socket
import subprocess
import sys
import threading
import time

CLIENTS = 16
ATTEMPTS = 10
# Rounds with and without hostile requests alternate, so that both see the same machine.
ROUNDS = 5
BURST = 200
MAX_MIB = 512
# The limit on the open files of the server.
OPEN_FILES = 256
BODY_BYTES = 8 << 20
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}


# --- Honest requests


def without_steps(answer):
    """Returns an answer without its steps, which are more for the first request of a shape."""
    return {key: value for key, value in json.loads(answer).items() if key != "steps"}


def honest_requests():
    """Returns pairs of a path and a body."""
    user = {"role": "user", "content": "How warm is it in Paris? \u2600"}
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo=" * 9000}}]
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "weather", "description": "Tells the weather.", "parameters": schema}}]
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "21 degrees"}
    called = [user, {"role": "assistant", "content": None, "tool_calls": [call]}, result]
    long = [{"role": ["user", "assistant"][turn % 2], "content": f"Turn {turn}: " + "lorem ipsum " * 40} for turn in range(401)]
    own = "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}"
    chats = [
        {"messages": [user]},
        {"messages": [{"role": "developer", "content": "Be brief."}, user]},
        {"messages": [{"role": "user", "content": parts}]},
        {"messages": called, "tools": tools},
        {"messages": long},
        {"messages": [user], "chat_template": own},
        {"messages": [user], "chat_template": own + "{% if add_generation_prompt %}[assistant]{% endif %}"},
    ]
    use = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Paris"}}
    blocks = [user, {"role": "assistant", "content": [use]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "21"}]}]
    others = [
        ("responses", {"instructions": "Be brief.", "input": "How warm is it?"}),
        ("responses", {"input": [user, {"type": "function_call", "call_id": "1", "name": "weather", "arguments": "{}"}, {"type": "function_call_output", "call_id": "1", "output": "21"}]}),
        ("messages", {"system": "Be brief.", "messages": [user], "max_tokens": 9}),
        ("messages", {"messages": blocks, "max_tokens": 9}),
    ]
    requests = [("chat", body) for body in chats] + others
    return [(PATHS[path], json.dumps(body).encode()) for path, body in requests]


def post(connection, path, body):
    """Sends a request, and returns the status, the headers and the answer."""
    connection.request("POST", path, body, {"content-type": "application/json"})
    response = connection.getresponse()
    return response.status, response.headers, response.read()


def ask(address, connection, path, body, right, counts):
    """Sends an honest request until it is answered. Returns whether the answer is right."""
    for _ in range(ATTEMPTS):
        try:
            status, headers, answer = post(connection, path, body)
        except (OSError, http.client.HTTPException):
            connection.close()
            counts["closed"] += 1
            continue
        if status != 503:
            break
        counts["busy"] += 1
        time.sleep(float(headers["retry-after"]))
    else:
        return False
    return status == 200 and right in (None, without_steps(answer))


# --- Hostile requests


def fill(unit, begin, end):
    """Returns a body of almost the largest size, with many copies of a unit."""
    return (begin + unit * ((BODY_BYTES - len(begin) - len(end)) // len(unit)) + end).encode()


def hostile_bodies():
    """Returns the bodies by their kinds. `NUMBER` is replaced by another number for each request, so that no template is known."""
    user = {"role": "user", "content": "x"}
    start, end = '{"messages":[{"role":"user","content":"x"}],"user":[', "0]}"

    def own(template, **more):
        return json.dumps({"messages": [user], "chat_template": "{#NUMBER#}" + template, **more}).encode()

    loop = "{% for m in messages %}{{ m.role }}{{ m.content }}{% endfor %}"
    switches = "".join("{%% if v%d %%}x{%% endif %%}" % number for number in range(1000))
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":[%s0]}' % ("1.7000000000000000386e308," * 200000)}}
    calls = [{"id": "c%d" % n, "type": "function", "function": {"name": "f", "arguments": "{}"}} for n in range(30000)]
    return {
        "objects": fill('{"":{"":0}},', start, end),
        "numbers": fill("0,", start, end),
        "floats": fill("1.7000000000000000386e308,", start, end),
        "long integers": fill("9" * 4300 + ",", start, end),
        "escapes": fill("\\n", start + '"', '"]}'),
        "deep": b"[" * (BODY_BYTES - 1),
        "too large": b" " * (BODY_BYTES + 1),
        "many messages": fill('{"role":"user","content":"x"},', '{"messages":[', json.dumps(user) + "]}"),
        "many parts": fill('{"type":"text","text":"x"},', '{"messages":[{"role":"user","content":[', '{"type":"text","text":"x"}]}]}'),
        "arguments": json.dumps({"messages": [user, {"role": "assistant", "content": None, "tool_calls": [call]}]}).encode(),
        "many calls": json.dumps({"messages": [user, {"role": "assistant", "content": None, "tool_calls": calls}]}).encode(),
        "endless": own("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"),
        "copies": own("{% set a = ['a' * 4096] * 255 %}" * 3333),
        "live": own("{% set ns = namespace(a=[]) %}{% for i in range(90000) %}{% set ns.a = ns.a + ['x' * 9000] %}{% endfor %}"),
        "control characters": fill("\\u0001", '{"messages":[{"role":"user","content":"', '"}]}'),
        "switches": own(loop + "{{ 'a' * 60000 }}" + switches),
        "parentheses": own("{{ " + "(" * 300000),
        "source": own("{{ a }}" * 140000),
        "refusal": own("{{ raise_exception('\\x01' * 4000000) }}"),
    }


class Hostile:
    """A client that sends hostile requests, and keeps the connections on which it does not end a request or read an answer."""

    def __init__(self, address, bodies, seed):
        self.address = address
        self.bodies = bodies
        self.random = random.Random(seed)
        self.held = collections.deque(maxlen=20)
        self.kinds = [*bodies, "idle", "stalled head", "stalled body", "small stalled body", "unread answer"]

    def head(self, length):
        return b"POST /v1/chat/completions HTTP/1.1\r\nhost: l\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % length

    def send(self, kind):
        """Sends one request, and returns what became of it."""
        body = self.bodies.get(kind, b"")
        if len(body) < BODY_BYTES // 2:
            body = body.replace(b"NUMBER", b"%d" % self.random.getrandbits(60), 1)
        try:
            stream = socket.create_connection(self.address, timeout=30)
            if kind in self.bodies:
                return self.ask(stream, body)
            self.held.append(stream)
            stream.settimeout(0.2)
            if kind == "idle":
                return "held"
            if kind == "unread answer":
                body = self.bodies["control characters"]
                stream.sendall(self.head(len(body)) + body)
                return "held"
            begin = {"stalled head": self.head(9)[:-9], "stalled body": self.head(BODY_BYTES) + b"x" * (BODY_BYTES - 9), "small stalled body": self.head(9)}
            stream.sendall(begin[kind])
            return "held"
        except OSError:
            return "closed"

    def ask(self, stream, body):
        with stream:
            stream.sendall(self.head(len(body)) + body)
            answer = b""
            while piece := stream.recv(1 << 20):
                answer = answer or piece
            return answer[9:12].decode() or "closed"


# --- The test


def run_client(number, address, requests, hostile_share, bodies, results):
    """Sends requests one after another, and reports the times of the honest ones and what became of the others."""
    hostile = Hostile(address, bodies, number)
    connection = http.client.HTTPConnection(*address, timeout=60)
    times, lost, counts, outcomes = [], [], collections.Counter(), collections.Counter()
    for index, (path, body, right) in requests:
        if hostile_share and index % hostile_share == 0:
            kind = hostile.kinds[index // hostile_share % len(hostile.kinds)]
            outcomes[f"{kind}: {hostile.send(kind)}"] += 1
            continue
        began = time.monotonic()
        if not ask(address, connection, path, body, right, counts):
            lost.append(index)
        times.append((time.monotonic() - began) * 1000)
    results.put((times, lost, counts, outcomes))


class Figures:
    """What became of the requests of one kind of rounds."""

    def __init__(self):
        self.times, self.lost, self.counts, self.outcomes, self.seconds = [], [], collections.Counter(), collections.Counter(), 0

    def run_round(self, address, honest, numbers, hostile_share, bodies):
        """Sends the requests with these numbers from all clients."""
        results = multiprocessing.Queue()
        requests = [(index, honest[index * 7 % len(honest)]) for index in numbers]
        clients = [
            multiprocessing.Process(target=run_client, args=(number, address, requests[number::CLIENTS], hostile_share, bodies, results))
            for number in range(CLIENTS)
        ]
        began = time.monotonic()
        for client in clients:
            client.start()
        for _ in clients:
            times, lost, counts, outcomes = results.get()
            self.times += times
            self.lost += lost
            self.counts += counts
            self.outcomes += outcomes
        for client in clients:
            client.join()
        self.seconds += time.monotonic() - began

    def show(self):
        times = sorted(self.times)
        return {
            "honest": len(times),
            "lost": len(self.lost),
            "answered 503 and sent again": self.counts["busy"],
            "closed and sent again": self.counts["closed"],
            "p50 ms": round(times[len(times) // 2], 2),
            "p99 ms": round(times[len(times) * 99 // 100], 2),
            "longest ms": round(times[-1], 2),
            "seconds": round(self.seconds, 1),
            "hostile": dict(sorted(self.outcomes.items())),
        }


def run_burst(address, honest, bodies):
    """Sends many hostile requests at once, and returns how many honest ones are lost after them."""
    hostile = Hostile(address, bodies, CLIENTS)
    kinds = [hostile.kinds[index % len(hostile.kinds)] for index in range(BURST)]
    senders = [threading.Thread(target=hostile.send, args=(kind,)) for kind in kinds]
    for sender in senders:
        sender.start()
    connection = http.client.HTTPConnection(*address, timeout=60)
    lost = sum(not ask(address, connection, *request, collections.Counter()) for request in honest)
    for sender in senders:
        sender.join()
    return {"hostile": BURST, "honest": len(honest), "lost": lost}


def peak_mib(server):
    """Returns the most memory that the server has taken, or None where the system does not tell."""
    try:
        with open(f"/proc/{server.pid}/status") as status:
            return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))
    except OSError:
        return None


def start(binary, model):
    """Starts the server, and returns its process and its address."""
    files = min(OPEN_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    server = subprocess.Popen([binary, model, "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=limit)
    host, port = server.stdout.readline().strip().rsplit("/", 1)[1].split(":")
    return server, (host, int(port))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--requests", type=int, default=10000)
    parser.add_argument("--model", default="tests/models/jinja")
    options = parser.parse_args()
    multiprocessing.set_start_method("fork")
    server, address = start(options.binary, options.model)
    try:
        connection = http.client.HTTPConnection(*address, timeout=60)
        honest = []
        for path, body in honest_requests():
            # The first answer to a request of its shape takes a search, and so more steps than the second one.
            answers = [post(connection, path, body) for _ in range(2)]
            assert [status for status, _, _ in answers] == [200, 200], answers
            right, again = [without_steps(answer) for _, _, answer in answers]
            assert right == again, (right, again)
            honest.append((path, body, right))
        bodies = hostile_bodies()
        alone, beside = Figures(), Figures()
        count = options.requests // ROUNDS
        for number in range(ROUNDS):
            numbers = range(number * count, (number + 1) * count)
            alone.run_round(address, honest, numbers, 0, bodies)
            beside.run_round(address, honest, numbers, 10, bodies)
        burst = run_burst(address, honest, bodies)
        burst["peak MiB"] = peak_mib(server)
        is_up = server.poll() is None
    finally:
        server.kill()
        server.wait()
    alone, beside = alone.show(), beside.show()
    lost = alone["lost"] + beside["lost"] + burst["lost"]
    ratio = round(beside["p99 ms"] / alone["p99 ms"], 1)
    print(json.dumps({"alone": alone, "beside hostile": beside, "burst": burst, "lost": lost, "ratio of p99": ratio}, indent=2))
    sys.exit(not is_up or lost > 0 or (burst["peak MiB"] or 0) > MAX_MIB)


if __name__ == "__main__":
    main()
