/** A list or an object, or its JSON text, in which `1.0` stays a float as in Python. */
export type Json<T = object> = T | string;

/** The start and the end of a part of a string, in its own units: `text.slice(start, end)`. */
export type Span = [number, number];

export type SpecialTokens = Record<string, string | null>;

/** What a call may use. A limit that is missing has its default. The time is not limited: use `steps`. */
export interface Limits {
  steps?: number;
  output?: number;
  value?: number;
  live?: number;
  calls?: number;
  height?: number;
  stack?: number;
  source?: number;
  width?: number;
  bits?: number;
}

export interface Within {
  limits?: Limits;
}

/** Which text counts as written by the model. */
export interface AssistantOptions {
  roles?: string[];
  end_of_turn?: boolean;
  reasoning?: boolean;
  last_turn_only?: boolean;
  content_only?: boolean;
  trailing_space?: boolean;
  next_marker?: boolean;
}

/** What a prompt has besides its text. */
export interface RenderOptions extends Within {
  /** Whether the prompt has `segments`, `turns` and `control_tokens`. */
  trace?: boolean;
  /** Whether the prompt has the places of what the model writes. */
  assistant?: boolean | AssistantOptions;
  reference_spans?: boolean;
  generation_spans?: boolean;
  generation_prompt?: boolean;
  /** What happens if the input writes a control token, and which tokens there are besides the model's. */
  control_tokens?: { policy?: "leave" | "refuse" | "split"; roles?: string[]; tokens?: string[] };
  /** What `strftime_now` reads: a moment, shown in the host's zone, or a local time such as `2026-01-02T03:04:05`. */
  now?: Date | string;
}

/** The arguments of `apply_chat_template`. */
export interface ApplyOptions extends RenderOptions {
  tools?: Json | null;
  documents?: Json | null;
  variables?: Json | null;
  chat_template?: string;
  add_generation_prompt?: boolean;
  continue_final_message?: boolean | string;
  special_tokens?: SpecialTokens;
}

export interface PrepareOptions extends RenderOptions {
  format?: "chat_completions" | "responses" | "messages";
  policy?: "exact" | "fit" | "strict";
  chat_template?: string;
  later_system?: "in_place" | "as_user" | "merged";
  media_placeholder?: string;
  keeps_tools?: boolean;
  tools_as_text?: boolean;
  /** The request before this one in the conversation, whose form is kept. */
  after?: Prepared;
}

export interface GrammarOptions extends Within {
  format?: GrammarFormat;
  tools?: object[];
  /** `auto`, `none`, `required`, or the name of a tool. */
  tool_choice?: string;
  parallel_calls?: boolean;
  json_schema?: object;
  reasoning?: boolean;
  variables?: object;
  response_template?: object;
}

export type GrammarFormat = "gbnf" | "lark" | "structural_tag";

export interface Grammar {
  text: string;
  triggers: string[];
  lost: [pointer: string, keyword: string][];
}

/** Where a part of a prompt came from. */
export interface Segment {
  start: number;
  end: number;
  from: "template" | "token" | "input" | "made";
  /** The line of the template. */
  line?: number;
  /** The name of the special token. */
  name?: string;
  /** The JSON pointer of the string of the input. */
  path?: string;
  /** The part of that string, in code points. */
  at?: Span;
  key?: true;
  /** The strings from which the part was made. */
  paths?: string[];
  by?: "clock";
  /** The index of the message that owns the part. */
  message?: number;
}

export interface Turn {
  message: number;
  header: Span[];
  body: Span[];
  close: Span[];
  fields: { name: string; spans: Span[] }[];
}

export interface ControlToken {
  start: number;
  end: number;
  origin: "template" | "input" | "mixed";
  path: string | null;
  message: number | null;
}

/** A change of a body: the prompt has a value of it in another form, in another place, or not at all. */
export interface Change {
  path: string;
  kind: string;
  reason: string;
  severity: "reshaped" | "moved" | "lost";
}

/** The prompt of a conversation. `JSON.stringify` writes it with spans in code points, as `chat-template render --json` does. */
export class Prompt {
  private constructor();
  readonly text: string;
  readonly segments: Segment[];
  readonly turns: Turn[];
  /** The places of what the model writes in the turns that are known. */
  readonly assistant: Span[];
  /** Why the places are not known, if no turn is known. */
  readonly unknown: string | null;
  readonly unknown_turns: { message: number; reason: string }[];
  readonly reference_spans: Span[];
  readonly generation_spans: Span[];
  readonly generation_prompt: Span | null;
  readonly control_tokens: ControlToken[];
  /** The control tokens of the input, if the policy is `split`. */
  readonly untrusted: ControlToken[];
  readonly changes: Change[];
  readonly steps: number;
  toString(): string;
  toJSON(): unknown;
}

/** A template has no prompt for the arguments, or what a model wrote is no message. `String(error)` shows the place in the template. */
export class TemplateError extends Error {
  private constructor();
  /** The exception of the reference, such as `type` or `undefined`. */
  readonly kind: string;
  /** Who has to act. */
  readonly class: "refused" | "request" | "mismatch" | "answer" | "limit" | "template" | "internal";
  readonly template: string | null;
  readonly line: number | null;
  readonly column: number | null;
  /** The JSON pointer of the value at fault. */
  readonly input_path: string | null;
  /** A hint. */
  readonly note: string | null;
  readonly limit: string | null;
  /** The loops, macros and messages in which the error happened. */
  readonly trail: string[];
  /** The message with the lines of the template. */
  readonly rendered: string;
}

/** The prompt of the longer conversation does not begin with what the model has seen. */
export class PrefixError extends Error {
  private constructor();
  /** The index of the first character that differs. */
  readonly at: number;
  readonly line: number | null;
  readonly looks_at: [line: number, code: string][];
  /** The prompt of the longer conversation. */
  readonly text: string;
}

/** The compiled chat templates of a model with its special tokens. */
export class ChatTemplate {
  private constructor();
  static fromSource(source: string, specialTokens?: SpecialTokens | null, within?: Within): ChatTemplate;
  static fromNamed(sources: Record<string, string>, specialTokens?: SpecialTokens | null, within?: Within): ChatTemplate;
  /** Loads a `tokenizer_config.json`, with the source of `chat_template.jinja` if there is such a file. */
  static fromConfig(config: Json, chatTemplate?: string, within?: Within): ChatTemplate;
  /** Reads the metadata of a GGUF file, of which the first megabytes are enough. */
  static fromGguf(bytes: Uint8Array, within?: Within): ChatTemplate;
  /** Returns the prompt of a conversation, as `tokenizer.apply_chat_template(…, tokenize=False)` does. */
  apply(messages: Json, options?: ApplyOptions): string;
  /** Returns the prompt with its spans. */
  render(messages: Json, options?: ApplyOptions): Prompt;
  /** Returns the text to append after `seen` and, with `sampled`, after what the model wrote. Throws a `PrefixError` if there is none. */
  append(messages: Json, seen: string, sampled?: string | null, options?: ApplyOptions): string;
  /** Prepares the body of a request of Chat Completions, Responses or Messages, so that this template prints all of it. */
  prepare(body: Json, options?: PrepareOptions): Prepared;
  /** Throws the error of the first template that does not compile. */
  check(): void;
  readonly source: string | null;
  readonly sources: Record<string, string>;
  readonly specialTokens: Record<string, string>;
  readonly controlTokens: string[];
  /** The names of the variables that the templates read. */
  readonly variables: string[];
  readonly hasGeneration: boolean;
  /** Returns the strings at which a server stops the model, each with its sources. */
  stopTokens(): Record<string, string[]>;
  /** Returns the report on what the template takes, or a part of it by its path, such as `roles.user` or `response.template`. */
  inspect(part?: string, within?: Within): any;
  /** Returns the grammar of what the model may write, or null if it may write anything. */
  grammar(options?: GrammarOptions): Grammar | null;
  /** Returns the description of answers that the model's files declare. */
  responseTemplate(): ResponseTemplate | null;
  /** Parses what the model wrote into a message, by the description of the model's files or by `response_template`. */
  parseResponse(text: string, options?: ParseOptions & { response_template?: object }): Record<string, unknown>;
}

/** The body of a request as it is written for a template. */
export class Prepared {
  private constructor();
  readonly messages: object[];
  readonly tools: object[] | null;
  readonly variables: object | null;
  readonly media: object[];
  /** The changes that are known before the render. */
  readonly changes: Change[];
  /** Returns the prompt, whose `changes` also have what this prompt does not show. */
  render(): Prompt;
  /** Returns the text to append after `seen` and `sampled`. The body has the whole conversation. */
  after(seen: string, sampled?: string | null): { piece: string; changes: Change[] };
  grammar(format?: GrammarFormat): Grammar | null;
  toJSON(): unknown;
}

/** Jinja with the extensions of transformers, without the contract of `apply_chat_template`. */
export class Template {
  constructor(source: string, within?: Within);
  render(context: Json, options?: RenderOptions): Prompt;
}

export interface ParseOptions extends Within {
  /** The prompt that the model continued; its end, `generation_prompt`, is enough. */
  prefix?: string;
  tools?: object[];
  /** Whether what is cut or malformed stays in the content, with its places in `unread`. */
  lenient?: boolean;
}

/** What a parser found. `bytes` is the place in the text of the model, in UTF-8. */
export type ResponseEvent =
  | { type: "region_open"; field: string; bytes: { start: number; end: number } }
  | { type: "region_chunk"; field: string; text: string; dirty: boolean; bytes: { start: number; end: number } }
  | { type: "region_close"; field: string; value: unknown; bytes: { start: number; end: number } }
  | { type: "region_unread"; field: string; reason: "cut" | "malformed"; bytes: { start: number; end: number } }
  | { type: "call"; index: number; name: string; id: string | null; bytes: { start: number; end: number } }
  | { type: "arguments"; index: number; text: string; bytes: { start: number; end: number } };

/** A description of what a model writes, as transformers reads it under `response_template`. */
export class ResponseTemplate {
  constructor(description: Json, within?: Within);
  parse(text: string, options?: ParseOptions): Record<string, unknown>;
  /** Returns the message as JSON text, in which `1.0` stays a float as in Python. */
  parseJson(text: string, options?: ParseOptions): string;
  stream(options?: ParseOptions): ResponseParser;
}

/** A parser that gets the text of a model in parts. */
export class ResponseParser {
  private constructor();
  feed(text: string): ResponseEvent[];
  finish(): { message: Record<string, unknown>; events: ResponseEvent[] };
}
