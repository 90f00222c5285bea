// Answers requests of the suite by the npm package, which must be loaded already.
//
// Values are passed on as the text that they have in the request, because JSON.parse reads 1.0 as 1, and no NaN.

import { ChatTemplate, ResponseTemplate, Template, TemplateError } from "../../src/js/dist/classes.js";

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+)/sy;

/** Returns the members of an object, each as JSON text. */
function members(text) {
  const found = new Map();
  let [at, depth, key, start] = [0, 0, null, 0];
  const end = text.trimEnd().length;
  while (at < end) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined || (at === 0 && token !== "{")) throw new SyntaxError("a request must be a JSON object");
    at = TOKEN.lastIndex;
    if (depth === 1 && key === null && token !== "}" && token !== ",") {
      [key, start] = [JSON.parse(token), null];
    } else if (depth === 1 && start === null) {
      start = at;
    } else if (depth === 1 && key !== null && (token === "," || token === "}")) {
      found.set(key, text.slice(start, at - 1).trim());
      key = null;
    }
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
  }
  if (depth !== 0) throw new SyntaxError("the line ends within an object");
  return found;
}

function parse(text, fallback) {
  const value = text === undefined ? fallback : JSON.parse(text);
  if (typeof value === "string" && !value.isWellFormed()) throw new SyntaxError("a string has a lone surrogate");
  return value;
}

// Keeps the last thing that was made of a string, because a suite repeats it in many requests.
function last(make) {
  let [key, value] = [null, null];
  return (text, ...others) => {
    if (key !== text) [value, key] = [make(text, ...others), text];
    return value;
  };
}

const compile = last((source) => new Template(parse(source)));
const describe = last((description) => new ResponseTemplate(description));

// Returns a template, and the source that a call compiles if the template does not compile, because the errors of a request come first.
const load = last((templates) => {
  const given = parse(templates);
  if (typeof given !== "string") return [ChatTemplate.fromNamed(templates)];
  try {
    return [ChatTemplate.fromSource(given)];
  } catch {
    return [ChatTemplate.fromSource(""), given];
  }
});

function template(request) {
  const tokens = parse(request.get("special_tokens"), null);
  const source = parse(request.get("template"));
  return typeof source === "string" ? ChatTemplate.fromSource(source, tokens) : ChatTemplate.fromNamed(source, tokens);
}

// Python takes any value for a flag, and tests it for truth.
function isFalse(value) {
  return !value || (typeof value === "object" && Object.keys(value).length === 0);
}

function argumentsOf(apply) {
  const flag = apply.get("add_generation_prompt");
  let variables = apply.get("variables");
  if (flag !== undefined && flag !== "true" && flag !== "false") {
    const others = variables === undefined || variables === "null" ? [] : [...members(variables)];
    variables = `{${[...others, ["add_generation_prompt", flag]].map(([name, value]) => `${JSON.stringify(name)}:${value}`)}}`;
  }
  const field = parse(apply.get("continue_final_message"), false);
  return {
    tools: apply.get("tools"),
    documents: apply.get("documents"),
    variables,
    chat_template: parse(apply.get("template_name"), null),
    add_generation_prompt: flag === "true",
    continue_final_message: typeof field === "string" ? field : !isFalse(field),
    special_tokens: parse(apply.get("special_tokens"), null),
  };
}

function wanted(request) {
  const is = (key) => request.get(key) === "true";
  return {
    trace: is("trace") || is("turns"),
    assistant: parse(request.get("assistant"), null),
    reference_spans: is("generation"),
    generation_prompt: is("generation_prompt"),
    now: parse(request.get("now"), null),
  };
}

function written(request, prompt) {
  const document = prompt.toJSON();
  const is = (key) => request.get(key) === "true";
  return {
    output: document.text,
    ...(document.changes && { changes: document.changes }),
    ...(is("generation") && { generation: document.reference_spans.code_points }),
    ...(is("generation_prompt") && { generation_prompt: document.generation_prompt }),
    ...(is("trace") && { segments: document.segments }),
    ...(request.has("assistant") && { assistant: document.assistant }),
    ...(is("turns") && { turns: document.turns }),
  };
}

function answer(request) {
  if (request.get("describe") === "true") {
    const requests = ["render", "apply", "generation", "trace", "assistant", "turns", "inspect", "chat", "response"];
    return { port: { name: "chat-template for JavaScript", version: "0.1.0", language: "JavaScript", requests, limits: "on" } };
  }
  const part = (key) => (request.get(key)?.startsWith("{") ? members(request.get(key)) : undefined);
  const [inspect, response, apply, chat] = ["inspect", "response", "apply", "chat"].map(part);
  if (inspect) return { report: template(inspect).inspect() };
  if (response) {
    const given = { prefix: parse(response.get("prefix")), tools: parse(response.get("tools"), null) };
    return { message: describe(response.get("template")).parseJson(parse(response.get("text")), given) };
  }
  if (apply) {
    const [template, chat_template] = load(apply.get("template"));
    const given = { ...argumentsOf(apply), ...wanted(request) };
    return written(request, template.render(apply.get("messages"), chat_template === undefined ? given : { ...given, chat_template }));
  }
  if (chat) {
    const choices = { format: parse(chat.get("format"), null), policy: parse(chat.get("policy"), null) };
    return written(request, template(chat).prepare(chat.get("body"), { ...choices, ...wanted(request) }).render());
  }
  return written(request, compile(request.get("template")).render(request.get("context"), wanted(request)));
}

function failure(error) {
  if (!(error instanceof TemplateError)) return { error: { kind: "request", message: String(error.message), line: null } };
  const { kind, message, line, column, input_path: path } = error;
  if (kind === "unsupported") return { unsupported: message };
  return { error: { kind, message, line, class: error.class, ...(path && { path }), ...(column && { column }) } };
}

/** Returns the answer to a line. */
export function answerLine(line) {
  let [id, result] = ["null", null];
  try {
    const request = members(line);
    id = request.get("id") ?? "null";
    result = answer(request);
  } catch (error) {
    result = failure(error);
  }
  const { message, ...others } = result;
  const rest = message === undefined ? JSON.stringify(others).slice(1) : `"message":${message}}`;
  return `{"id":${id},${rest}`;
}
