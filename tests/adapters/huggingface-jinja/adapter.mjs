// @huggingface/jinja as a port: one JSON request a line on standard input, one answer a line on standard output.
//
//   {"id": 1, "template": "{{ x }}", "context": {"x": 1}}   ->   {"id":1,"output":"1"}
//
// It is used as it comes. It knows neither the contract of `apply_chat_template` nor spans. Its errors have no class and no line, and that
// of `raise_exception` is like any other: what fails before rendering is called a syntax error here, and the rest runtime errors.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { Template } from "@huggingface/jinja";

const manifest = createRequire(import.meta.url)("./package.json");

// `strftime_now` asks `new Date()`, in local time: the time that a request gives is put there.
const SystemDate = Date;

function setClock(now) {
  globalThis.Date = now === undefined ? SystemDate : class extends SystemDate {
    constructor(...parts) {
      super(...(parts.length > 0 ? parts : [now]));
    }
  };
}

function errorOf(error, kind) {
  return { error: { kind, message: String(error.message), line: null } };
}

function render(source, context) {
  let template;
  try {
    template = new Template(source);
  } catch (error) {
    return errorOf(error, "syntax");
  }
  try {
    return { output: template.render(context) };
  } catch (error) {
    return errorOf(error, error instanceof RangeError ? "limit" : "runtime");
  }
}

// A line that JSON.parse does not read has what Python's json writes and JSON does not have, or is no request at all.
function unread(line, error) {
  try {
    const { id } = JSON.parse(line.replace(/-?Infinity|NaN/g, "0"));
    return { id, unsupported: "JSON.parse reads neither NaN nor Infinity" };
  } catch {
    return { id: null, ...errorOf(error, "request") };
  }
}

function answer(line) {
  let request;
  try {
    request = JSON.parse(line);
  } catch (error) {
    return unread(line, error);
  }
  const { id = null, template, context, now } = request ?? {};
  if (request?.describe) {
    const version = manifest.dependencies["@huggingface/jinja"];
    const homepage = "https://github.com/huggingface/huggingface.js";
    return { id, port: { name: "@huggingface/jinja", version, language: "JavaScript", homepage, requests: ["render"], limits: "off" } };
  }
  if (request?.apply || request?.generation) {
    return { id, unsupported: "it renders, and has no spans" };
  }
  if (typeof template !== "string" || typeof context !== "object" || context === null) {
    return { id, ...errorOf(new Error("a template and a context are missing"), "request") };
  }
  setClock(now);
  return { id, ...render(template, context) };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(answer(line)) + "\n");
}
