// What the package adds to the library: units of places, errors, clocks, options. The suite tests the rest.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { writeGguf } from "./gguf.mjs";
import { ChatTemplate, PrefixError, ResponseTemplate, Template, TemplateError } from "../../src/js/dist/node.js";

const SOURCE =
  "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
const MESSAGES = [
  { role: "user", content: "Hé 😀" },
  { role: "assistant", content: "Ho" },
];
const template = () => ChatTemplate.fromSource(SOURCE, { bos_token: "<s>", eos_token: null });

function thrown(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

test("apply returns the prompt", () => {
  const prompt = "<s><|im_start|>user\nHé 😀<|im_end|>\n<|im_start|>assistant\nHo<|im_end|>\n";
  assert.equal(template().apply(MESSAGES), prompt);
  assert.equal(template().apply(JSON.stringify(MESSAGES)), prompt);
  assert.ok(template().apply(MESSAGES, { add_generation_prompt: true }).endsWith("<|im_start|>assistant\n"));
  assert.ok(template().apply(MESSAGES, { continue_final_message: true }).endsWith("assistant\nHo"));
});

test("JSON text keeps the floats of Python", () => {
  const shown = ChatTemplate.fromSource("{{ messages[0].n }} {{ x }}");
  assert.equal(shown.apply('[{"n": 1.0}]', { variables: '{"x": 12345678901234567890123}' }), "1.0 12345678901234567890123");
  assert.equal(shown.apply([{ n: 1.0 }], { variables: { x: 0.5 } }), "1 0.5");
});

test("places are in the units of strings", () => {
  const prompt = template().render(MESSAGES, { trace: true, assistant: true, add_generation_prompt: true, generation_prompt: true });
  const slice = ([start, end]) => prompt.text.slice(start, end);
  assert.deepEqual(prompt.assistant.map(slice), ["Ho<|im_end|>"]);
  assert.deepEqual(prompt.turns[0].body.map(slice), ["Hé 😀"]);
  assert.deepEqual(prompt.turns[1].fields[0].spans.map(slice), ["Ho"]);
  assert.equal(slice(prompt.generation_prompt), "<|im_start|>assistant\n");
  assert.equal(prompt.segments.map(({ start, end }) => slice([start, end])).join(""), prompt.text);
  assert.equal(prompt.segments.find(({ path }) => path === "/messages/0/content").end, prompt.text.indexOf("<|im_end|>"));
  assert.deepEqual(JSON.parse(JSON.stringify(prompt)).generation_prompt, prompt.generation_prompt.map((place) => place - 1));
});

test("control tokens of the input are found, refused and split", () => {
  const messages = [{ role: "user", content: "Hi<s>" }];
  const { untrusted } = template().render(messages, { trace: true, control_tokens: { policy: "split" } });
  assert.deepEqual(untrusted.map(({ origin, path, message }) => [origin, path, message]), [["input", "/messages/0/content", 0]]);
  const error = thrown(() => template().apply(messages, { control_tokens: { policy: "refuse" } }));
  assert.deepEqual([error.class, error.input_path], ["request", "/messages/0/content"]);
});

test("errors have their fields", () => {
  const syntax = thrown(() => ChatTemplate.fromSource("a\n{{ 1 + }}"));
  assert.ok(syntax instanceof TemplateError && syntax instanceof Error);
  assert.deepEqual([syntax.kind, syntax.class, syntax.line, syntax.column], ["syntax", "template", 2, 8]);
  assert.match(String(syntax), /^syntax error: .*\n --> line 2, column 8\n2 \| \{\{ 1 \+ \}\}/);
  const refused = thrown(() => ChatTemplate.fromSource("{{ raise_exception('No!') }}").apply(MESSAGES));
  assert.deepEqual([refused.kind, refused.class, refused.message], ["raised", "refused", "No!"]);
  assert.equal(thrown(() => template().apply("[1,")).class, "request");
  assert.match(thrown(() => template().apply(MESSAGES, { add_generation: true })).message, /unknown field `add_generation`/);
  assert.match(thrown(() => template().prepare({}, { policy: "fitting" })).message, /must be one of exact, fit, strict/);
});

test("limits are steps", () => {
  const endless = new Template("{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}");
  assert.equal(thrown(() => endless.render({})).kind, "limit");
  assert.equal(thrown(() => endless.render({}, { limits: { steps: 10 } })).kind, "limit");
  assert.equal(thrown(() => new Template("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}").render({})).kind, "limit");
  assert.equal(thrown(() => new Template(`{{ ${"[".repeat(50_000)} }}`)).kind, "limit");
});

test("the clock is that of the host", () => {
  const dated = ChatTemplate.fromSource("{{ strftime_now('%Y-%m-%d %H:%M') }}");
  const now = new Date(2026, 0, 2, 3, 4);
  assert.equal(dated.apply(MESSAGES, { now }), "2026-01-02 03:04");
  assert.equal(dated.apply(MESSAGES, { now: "2026-01-02T03:04:05" }), "2026-01-02 03:04");
  assert.ok(dated.apply(MESSAGES).startsWith(String(new Date().getFullYear())));
});

test("a configuration has templates, tokens and a description", () => {
  const config = { chat_template: "{{ eos_token }}", eos_token: "</s>", additional_special_tokens: ["<|x|>"] };
  const made = ChatTemplate.fromConfig(config);
  assert.equal(made.apply(MESSAGES), "</s>");
  assert.deepEqual([made.source, made.specialTokens, made.controlTokens], ["{{ eos_token }}", { eos_token: "</s>" }, ["</s>", "<|x|>"]]);
  assert.equal(ChatTemplate.fromConfig(JSON.stringify(config), "own").apply(MESSAGES), "own");
  assert.equal(made.responseTemplate(), null);
  const named = ChatTemplate.fromNamed({ default: "plain", tool_use: "tools" });
  assert.deepEqual([named.apply(MESSAGES), named.apply(MESSAGES, { tools: [] })], ["plain", "tools"]);
  assert.deepEqual(named.sources, { default: "plain", tool_use: "tools" });
});

test("a GGUF file has templates", () => {
  const file = writeGguf({ "tokenizer.chat_template": "{{ messages[0].content }}", "tokenizer.chat_template.rag": "R" });
  const made = ChatTemplate.fromGguf(new TextEncoder().encode(file));
  assert.deepEqual([made.apply(MESSAGES), made.sources.rag], [MESSAGES[0].content, "R"]);
  assert.match(thrown(() => ChatTemplate.fromGguf(new Uint8Array([71, 71]))).message, /the file ends/);
});

test("an argument of another type is a TypeError, and half a surrogate pair is no other character", () => {
  const { template: description } = template().inspect("response");
  for (const call of [
    () => ChatTemplate.fromSource(5),
    () => ChatTemplate.fromSource("\ud83d"),
    () => ChatTemplate.fromGguf("GGUF"),
    () => template().apply(() => 1),
    () => template().apply('[{"role": "user", "content": "\ud83d"}]'),
    () => template().inspect(1),
    () => template().prepare({ messages: MESSAGES }).after(1),
    () => template().prepare({ messages: MESSAGES }).grammar(null),
    () => new Template(null),
    () => template().parseResponse(1, { response_template: description }),
    () => new ResponseTemplate(description).stream().feed(undefined),
  ]) {
    assert.throws(call, TypeError, String(call));
  }
  const [parser, cut] = [new ResponseTemplate(description).stream(), new ResponseTemplate(description).stream()];
  const events = ["a\ud83d", "\ude00b"].flatMap((part) => parser.feed(part));
  assert.ok(JSON.stringify([events, parser.finish()]).includes("😀"));
  cut.feed("\ud83d");
  assert.throws(() => cut.finish(), TypeError);
  assert.equal(template().apply(MESSAGES), template().apply(MESSAGES));
});

test("a body is prepared, and the next one in the same way", () => {
  const body = { messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] };
  const prepared = template().prepare(body);
  const prompt = prepared.render();
  assert.deepEqual([prompt.changes[0].kind, prepared.messages], ["joined", [{ role: "user", content: "Hi" }]]);
  const whole = { messages: [...body.messages, { role: "assistant", content: "Ho" }, { role: "user", content: "?" }] };
  const { piece } = template().prepare(whole, { after: prepared }).after(prompt.text, "Ho<|im_end|>");
  assert.equal(piece, "\n<|im_start|>user\n?<|im_end|>\n<|im_start|>assistant\n");
});

test("append returns what is new", () => {
  const longer = [...MESSAGES, { role: "user", content: "?" }];
  assert.equal(template().append(longer, template().apply(MESSAGES)), "<|im_start|>user\n?<|im_end|>\n");
  const error = thrown(() => template().append(longer, "<s><|im_start|>user\nHé 😀!"));
  assert.ok(error instanceof PrefixError);
  assert.equal(error.at, error.text.indexOf("<|im_end|>"));
});

test("answers are read, whole and in parts, and a grammar says what they can be", () => {
  const { template: description } = template().inspect("response");
  assert.deepEqual(template().parseResponse("Hello<|im_end|>", { response_template: description }), { role: "assistant", content: "Hello" });
  const parser = new ResponseTemplate(description).stream();
  const events = [...parser.feed("Hel"), ...parser.feed("lo<|im_"), ...parser.feed("end|>")];
  assert.deepEqual(events.map(({ type }) => type), ["region_open", "region_chunk", "region_chunk", "region_close"]);
  assert.deepEqual(parser.finish().message, { role: "assistant", content: "Hello" });
  assert.throws(() => parser.finish(), TypeError);
  assert.deepEqual(template().stopTokens(), { "<|im_end|>": ["after_answer"], "<|im_start|>": ["next_turn"] });
  assert.equal(template().grammar({ json_schema: { enum: ["yes"] } }).text, 'root ::= "\\"yes\\""\n');
  assert.equal(template().grammar(), null);
  assert.deepEqual(Object.keys(template().inspect()).slice(0, 2), ["roles", "media"]);
});

test("the module is small, with reports and without", () => {
  for (const [folder, most] of [["dist", 1_200_000], ["dist/bare", 800_000]]) {
    const module = readFileSync(new URL(`../../src/js/${folder}/module_bg.wasm`, import.meta.url));
    assert.ok(gzipSync(module).length < most, folder);
  }
});
