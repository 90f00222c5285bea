// @huggingface/jinja as a port: one JSON request a line on standard input, one answer a line on standard output.
//
//   {"id": 1, "template": "{{ x }}", "context": {"x": 1}}   ->   {"id":1,"output":"1"}
//
// It is used as it comes. It knows neither the contract of `apply_chat_template` nor spans. Its errors have no class and no line, and that
// of `raise_exception` is like any other: what fails before rendering is called a syntax error here, and the rest runtime errors.

import { createRequire } from "node:module";
import { Template } from "@huggingface/jinja";

import { serve } from "../protocol.mjs";

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

function render(source, context, now) {
  setClock(now);
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

const version = manifest.dependencies["@huggingface/jinja"];
await serve({ name: "@huggingface/jinja", version, homepage: "https://github.com/huggingface/huggingface.js" }, render);
