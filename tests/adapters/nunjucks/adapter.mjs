// nunjucks as a port: one JSON request a line on standard input, one answer a line on standard output.
//
//   {"id": 1, "template": "{{ x }}", "context": {"x": 1}}   ->   {"id":1,"output":"1"}
//
// It is set up as chat templates need it: `trimBlocks` and `lstripBlocks` on, escaping off, Python's spelling of constants and methods
// (`installJinjaCompat`), a `tojson`, `raise_exception`, and a `strftime_now` by the package strftime. nunjucks has neither namespaces nor a
// tag for generation, and cannot set attributes.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import nunjucks from "nunjucks";
import strftime from "strftime";

const manifest = createRequire(import.meta.url)("./package.json");

let now;
let raised = false;

// Python separates items with a blank, too.
function toJson(value, indent) {
  if (Array.isArray(value) && indent === undefined) return `[${value.map((item) => toJson(item)).join(", ")}]`;
  if (value !== null && typeof value === "object" && indent === undefined) {
    return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${toJson(item)}`).join(", ")}}`;
  }
  return JSON.stringify(value, null, indent);
}

nunjucks.installJinjaCompat();
const environment = new nunjucks.Environment(null, { autoescape: false, trimBlocks: true, lstripBlocks: true });
environment.addFilter("tojson", (value, options) => toJson(value, options?.indent));
environment.addGlobal("strftime_now", (format) => strftime(format, now === undefined ? new Date() : new Date(now)));
environment.addGlobal("raise_exception", (message) => {
  raised = true;
  throw new Error(message);
});

// nunjucks writes the place before the message: "(unknown path) [Line 1, Column 9]\n  Error: …".
function errorOf(error, kind) {
  const [, line, message] = /^\(unknown path\)(?: \[Line (\d+), Column \d+\])?\s+(?:Error: )?(.*)$/s.exec(error.message) ?? [];
  return { error: { kind, message: message ?? String(error.message), line: line === undefined ? null : Number(line) } };
}

function render(source, context) {
  let template;
  try {
    template = new nunjucks.Template(source, environment, undefined, true);
  } catch (error) {
    return errorOf(error, "syntax");
  }
  raised = false;
  try {
    return { output: template.render(context) };
  } catch (error) {
    return errorOf(error, raised ? "raised" : "runtime");
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
  const { id = null, template, context } = request ?? {};
  if (request?.describe) {
    const version = manifest.dependencies.nunjucks;
    const homepage = "https://mozilla.github.io/nunjucks/";
    return { id, port: { name: "nunjucks", version, language: "JavaScript", homepage, requests: ["render"], limits: "off" } };
  }
  if (request?.apply || request?.generation) {
    return { id, unsupported: "it renders, and has no spans" };
  }
  if (typeof template !== "string" || typeof context !== "object" || context === null) {
    return { id, ...errorOf(new Error("a template and a context are missing"), "request") };
  }
  now = request.now;
  return { id, ...render(template, context) };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(answer(line)) + "\n");
}
