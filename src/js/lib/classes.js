// The classes of the package. index.d.ts describes them.
import { localTime } from "./clock.js";
import * as native from "./module.js";

/** A template has no prompt for the arguments, or what a model wrote is no message. */
export class TemplateError extends Error {
  constructor(fields) {
    super(fields.message);
    this.name = "TemplateError";
    Object.assign(this, fields);
  }

  toString() {
    return this.rendered;
  }
}

// The module throws the fields of an error as JSON text.
function run(call) {
  try {
    return call();
  } catch (thrown) {
    if (typeof thrown !== "string") throw thrown;
    const { fields, rendered } = JSON.parse(thrown);
    throw new TemplateError({ ...fields, rendered });
  }
}

// Returns a string that the module can take: it has no half of a surrogate pair, which would become another character.
function text(name, value) {
  if (typeof value !== "string") throw new TypeError(`${name} must be a string, and is ${value === null ? "null" : typeof value}`);
  if (!value.isWellFormed()) throw new TypeError(`${name} has a half of a surrogate pair`);
  return value;
}

// A string is JSON text already. The empty string is a missing argument.
function json(value) {
  if (value === undefined || value === null) return "";
  return text("an argument", typeof value === "string" ? value : JSON.stringify(value));
}

const flag = (value, meaning) => (value === true ? meaning : value === false ? undefined : value);

// Returns the JSON text of the options that have a value.
function options(given) {
  for (const key in given) if (given[key] !== undefined && given[key] !== null) return JSON.stringify(given);
  return "";
}

// Options of renders have shorter forms.
function rendering({ now, assistant, continue_final_message, ...others }) {
  return options({
    now: now instanceof Date ? localTime(now) : now,
    assistant: flag(assistant, {}),
    continue_final_message: flag(continue_final_message, "content"),
    ...others,
  });
}

// Returns the arguments of `apply` after the messages.
function applied({ tools, documents, variables, ...others } = {}) {
  return [json(tools), json(documents), json(variables), rendering(others)];
}

// Returns a function from the index of a code point to that of its first unit.
function unitsOf(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (index) => index;
  const starts = [];
  let unit = 0;
  for (const char of text) {
    starts.push(unit);
    unit += char.length;
  }
  // A span of transformers can end after the text.
  return (index) => starts[index] ?? unit + index - starts.length;
}

/** The prompt of a conversation. `JSON.stringify` writes it with spans in code points, as `chat-template render --json` does. */
export class Prompt {
  #document;

  constructor(document) {
    this.#document = document;
    const unit = unitsOf(document.text);
    const pair = ([start, end]) => [unit(start), unit(end)];
    const pairs = (spans) => (Array.isArray(spans) ? spans.map(pair) : []);
    const placed = (items) => (items ?? []).map((item) => ({ ...item, start: unit(item.start), end: unit(item.end) }));
    this.text = document.text;
    this.steps = document.steps;
    this.segments = placed(document.segments);
    this.turns = (document.turns ?? []).map((turn) => ({
      message: turn.message,
      header: pairs(turn.header),
      body: pairs(turn.body),
      close: pairs(turn.close),
      fields: turn.fields.map((field) => ({ name: field.name, spans: pairs(field.spans) })),
    }));
    this.assistant = pairs(document.assistant);
    this.unknown = document.assistant?.unknown ?? null;
    this.unknown_turns = document.unknown_turns ?? [];
    this.reference_spans = pairs(document.reference_spans.code_points);
    this.generation_spans = pairs(document.generation_spans.code_points);
    this.generation_prompt = document.generation_prompt ? pair(document.generation_prompt) : null;
    this.control_tokens = placed(document.control_tokens);
    this.untrusted = placed(document.untrusted);
    this.changes = document.changes ?? [];
  }

  toString() {
    return this.text;
  }

  toJSON() {
    return this.#document;
  }
}

/** The compiled chat templates of a model with its special tokens. */
export class ChatTemplate {
  #native;
  #description;

  constructor(made) {
    this.#native = made;
  }

  static fromSource(source, specialTokens, given = {}) {
    return new ChatTemplate(run(() => native.JsChatTemplate.from_sources(text("the source", source), "", json(specialTokens), options(given))));
  }

  static fromNamed(sources, specialTokens, given = {}) {
    return new ChatTemplate(run(() => native.JsChatTemplate.from_sources(undefined, json(sources), json(specialTokens), options(given))));
  }

  static fromConfig(config, chatTemplate, given = {}) {
    const parsed = typeof config === "string" ? JSON.parse(config) : config;
    const whole = chatTemplate === undefined ? parsed : { ...parsed, chat_template: chatTemplate };
    return new ChatTemplate(run(() => native.JsChatTemplate.from_config(json(whole), options(given))));
  }

  static fromGguf(bytes, given = {}) {
    if (!(bytes instanceof Uint8Array)) throw new TypeError("the bytes of a GGUF file must be a Uint8Array");
    return new ChatTemplate(run(() => native.JsChatTemplate.from_gguf(bytes, options(given))));
  }

  apply(messages, given) {
    return run(() => this.#native.apply(json(messages), ...applied(given)));
  }

  render(messages, given) {
    return new Prompt(JSON.parse(run(() => this.#native.render(json(messages), ...applied(given)))));
  }

  append(messages, seen, sampled, given) {
    return appended(run(() => this.#native.append(json(messages), ...applied({ ...given, seen, sampled }))));
  }

  prepare(body, { after, ...given } = {}) {
    const settings = rendering(given);
    return new Prepared(run(() => (after ? after[NEXT](json(body), settings) : this.#native.prepare(json(body), settings))));
  }

  check() {
    run(() => this.#native.check());
  }

  get #described() {
    return (this.#description ??= JSON.parse(run(() => this.#native.describe())));
  }

  get source() {
    return this.#described.source;
  }

  get sources() {
    const { source, sources } = this.#described;
    return sources.length > 0 ? Object.fromEntries(sources) : { "": source };
  }

  get specialTokens() {
    return Object.fromEntries(this.#described.special_tokens);
  }

  get controlTokens() {
    return this.#described.control_tokens;
  }

  get variables() {
    return this.#described.variables;
  }

  get hasGeneration() {
    return this.#described.has_generation;
  }

  stopTokens() {
    return Object.fromEntries(JSON.parse(run(() => this.#native.stop_tokens())));
  }

  inspect(part = "", given = {}) {
    return JSON.parse(run(() => this.#native.inspect(text("the part", part), options(given))));
  }

  grammar(given = {}) {
    return JSON.parse(run(() => this.#native.grammar(options(given))));
  }

  responseTemplate() {
    const declared = run(() => this.#native.response_template());
    return declared === undefined ? null : new ResponseTemplate(declared);
  }

  parseResponse(text, { response_template, ...given } = {}) {
    const template = response_template ? new ResponseTemplate(response_template) : this.responseTemplate();
    if (template === null) throw new TypeError("the model's files declare no `response_template`; pass one, such as `inspect(\"response.template\")`");
    return template.parse(text, given);
  }
}

function appended(answer) {
  const { piece, broken, changes } = JSON.parse(answer);
  if (broken === null) return changes === null ? piece : { piece, changes };
  const [{ at, line, looks_at }, message, text] = broken;
  throw new PrefixError(message, { at: unitsOf(text)(at), line, looks_at, text });
}

/** The prompt of the longer conversation does not begin with what the model has seen. */
export class PrefixError extends Error {
  constructor(message, fields) {
    super(message);
    this.name = "PrefixError";
    Object.assign(this, fields);
  }
}

const NEXT = Symbol("next");

/** The body of a request as it is written for a template. */
export class Prepared {
  #native;
  #description;

  constructor(made) {
    this.#native = made;
  }

  [NEXT](body, settings) {
    return this.#native.next(body, settings);
  }

  get #described() {
    return (this.#description ??= JSON.parse(run(() => this.#native.describe())));
  }

  toJSON() {
    return this.#described;
  }

  get messages() {
    return this.#described.messages;
  }

  get tools() {
    return this.#described.tools;
  }

  get variables() {
    return this.#described.variables;
  }

  get media() {
    return this.#described.media;
  }

  get changes() {
    return this.#described.changes;
  }

  render() {
    return new Prompt(JSON.parse(run(() => this.#native.render())));
  }

  after(seen, sampled) {
    return appended(run(() => this.#native.after(text("seen", seen), sampled === undefined || sampled === null ? undefined : text("sampled", sampled))));
  }

  grammar(format = "gbnf") {
    return JSON.parse(run(() => this.#native.grammar(text("the format", format))));
  }
}

/** Jinja with the extensions of transformers, without the contract of `apply_chat_template`. */
export class Template {
  #native;

  constructor(source, given = {}) {
    this.#native = run(() => new native.JsTemplate(text("the source", source), options(given)));
  }

  render(context, given = {}) {
    return new Prompt(JSON.parse(run(() => this.#native.render(json(context), rendering(given)))));
  }
}

/** A description of what a model writes. */
export class ResponseTemplate {
  #native;

  constructor(description, given = {}) {
    const isMade = description instanceof native.JsResponseTemplate;
    this.#native = isMade ? description : run(() => new native.JsResponseTemplate(json(description), options(given)));
  }

  parse(answer, given) {
    return JSON.parse(this.parseJson(answer, given));
  }

  parseJson(answer, given = {}) {
    return run(() => this.#native.parse(text("the text", answer), options(given)));
  }

  stream(given = {}) {
    return new ResponseParser(run(() => this.#native.stream(options(given))));
  }
}

/** A parser that gets the text of a model in parts. */
export class ResponseParser {
  #native;
  // The first half of a surrogate pair whose other half is in the next part.
  #half = "";

  constructor(made) {
    this.#native = made;
  }

  feed(part) {
    const whole = typeof part === "string" ? this.#half + part : part;
    const end = /[\ud800-\udbff]$/.test(whole) ? -1 : undefined;
    const ready = text("the text", end ? whole.slice(0, end) : whole);
    this.#half = end ? whole.slice(end) : "";
    return JSON.parse(run(() => this.#native.feed(ready)));
  }

  finish() {
    text("the text", this.#half);
    const first = this.feed("");
    const { message, events } = JSON.parse(run(() => this.#native.finish()));
    return { message, events: [...first, ...events] };
  }
}
