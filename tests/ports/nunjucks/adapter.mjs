// nunjucks as a port: one JSON request a line on standard input, one answer a line on standard output.
//
//   {"id": 1, "template": "{{ x }}", "context": {"x": 1}}   ->   {"id":1,"output":"1"}
//
// It is set up as chat templates need it: `trimBlocks` and `lstripBlocks` on, escaping off, Python's spelling of constants and methods
// (`installJinjaCompat`), a `tojson`, `raise_exception`, and a `strftime_now` by the package strftime. nunjucks has neither namespaces nor a
// tag for generation, and cannot set attributes.

import { createRequire } from "node:module";
import nunjucks from "nunjucks";
import strftime from "strftime";

import { serve } from "../protocol.mjs";

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

function render(source, context, time) {
  now = time;
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

const version = manifest.dependencies.nunjucks;
await serve({ name: "nunjucks", version, homepage: "https://mozilla.github.io/nunjucks/" }, render);
