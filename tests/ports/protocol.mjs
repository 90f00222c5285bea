// The protocol of the suite for ports in JavaScript that only render: a JSON request a line, a JSON answer a line.

import { createInterface } from "node:readline";

function requestError(message) {
  return { error: { kind: "request", message, line: null } };
}

// A line that JSON.parse does not read has what Python's json writes and JSON does not have, or is no request at all.
function unread(line, error) {
  try {
    const { id } = JSON.parse(line.replace(/-?Infinity|NaN/g, "0"));
    return { id, unsupported: "JSON.parse reads neither NaN nor Infinity" };
  } catch {
    return { id: null, ...requestError(String(error.message)) };
  }
}

function answer(line, port, render) {
  let request;
  try {
    request = JSON.parse(line);
  } catch (error) {
    return unread(line, error);
  }
  const { id = null, template, context, now } = request ?? {};
  if (request?.describe) {
    return { id, port: { language: "JavaScript", requests: ["render"], limits: "off", ...port } };
  }
  if (request?.apply || request?.generation) {
    return { id, unsupported: "it renders, and has no spans" };
  }
  if (typeof template !== "string" || typeof context !== "object" || context === null) {
    return { id, ...requestError("a template and a context are missing") };
  }
  return { id, ...render(template, context, now) };
}

// Answers the requests on standard input. `port` has the name, the version and the homepage; `render` returns an output or an error.
export async function serve(port, render) {
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(answer(line, port, render)) + "\n");
  }
}
