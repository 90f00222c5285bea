// The panels under the prompt.

import { PrefixError, ResponseTemplate, TemplateError } from "../dist/classes.js";
import { make } from "./picture.js";

const TONES = { printed: "good", kept: "good", repr: "warn", double: "warn", unknown: "warn", lost: "bad", refused: "bad", failed: "bad", broken: "bad" };
const TITLES = {
  roles: "Roles", media: "Images, audio and video", system: "System messages", alternation: "Orders of roles", tools: "Tools", calls: "Calls",
  reasoning: "Reasoning", generation_prompt: "Generation prompt", switches: "Variables that change the prompt", reads: "Names that the template reads",
  prefix: "Whether the prompt stays a prefix when the conversation grows by",
};

const heading = (text) => make("h2", {}, text);
const note = (text) => make("p", { class: "note" }, text);
const code = (text) => make("code", {}, text.replaceAll("\n", "⏎"));
const pretty = (value) => make("pre", {}, typeof value === "string" ? value : JSON.stringify(value, null, 2));
const cut = (text, most = 160) => (text.length > most ? `${text.slice(0, most / 2)} … ${text.slice(-most / 2)}` : text);

function table(columns, rows) {
  const names = make("tr", {}, ...columns.map((column) => make("th", { scope: "col" }, column)));
  const head = columns.length > 0 ? make("thead", {}, names) : "";
  const row = ([first, ...cells]) => make("tr", {}, make("th", { scope: "row" }, first), ...cells.map((cell) => make("td", {}, cell)));
  return make("div", { class: "wide" }, make("table", {}, head, make("tbody", {}, ...rows.map(row))));
}

export function explain(error) {
  const isOwn = error instanceof TemplateError || error instanceof PrefixError || error instanceof TypeError;
  return make("p", { class: isOwn ? "bad" : "warn" }, error.message);
}

/** Shows the turns, and what the model writes. */
export function showTurns(panel, { prompt, nameOf }) {
  const slice = (spans) => code(cut(spans.map(([start, end]) => prompt.text.slice(start, end)).join(" … ")));
  const turns = prompt.turns.map((turn) => [nameOf(turn.message), slice(turn.header), slice(turn.body), slice(turn.close)]);
  const spans = prompt.assistant.map(([start, end]) => [`${start} to ${end}`, code(cut(prompt.text.slice(start, end)))]);
  const reasons = prompt.unknown ? [{ reason: prompt.unknown }] : prompt.unknown_turns;
  panel.replaceChildren(
    ...(turns.length > 0 ? [table(["message", "header", "body", "close"], turns)] : [note("No message owns a part of the prompt.")]),
    heading("What the model writes, for a training mask"),
    ...(spans.length > 0 ? [table(["characters", "text"], spans)] : []),
    ...reasons.map(({ message, reason }) => note(`${message === undefined ? "" : `${nameOf(message)}: `}it is unknown which text the model writes: ${reason}`)),
    ...(spans.length + reasons.length === 0 ? [note("The prompt has no text that the model writes.")] : []),
  );
}

/** Shows how the body of a request was changed. */
export function showChanges(panel, { prompt, isBody }) {
  const rows = prompt.changes.map(({ path, kind, reason, severity }) => {
    const tone = { lost: "bad", moved: "warn" }[severity];
    return [code(path), make("span", { class: tone }, kind), reason];
  });
  const none = isBody ? "The template prints all of the body as it is." : "Messages reach the template as they are. The body of a request, an object, is written so that the template prints all of it.";
  panel.replaceChildren(rows.length > 0 ? table(["place", "change", "reason"], rows) : note(none));
}

// Returns the leaves of a value with their paths. The name of an item of a list is a part of its path.
function leaves(value, path = "", isItem = false) {
  if (value === null || typeof value !== "object") return [[path, value]];
  if (Array.isArray(value) && value.every((item) => item === null || typeof item !== "object")) return value.length > 0 ? [[path, value.join(", ")]] : [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, item]) => {
    if ((isItem && key === "name") || key === "tried") return [];
    const step = isList ? (item?.name ?? Number(key) + 1) : key === "verdict" || (isItem && key === "line") ? "" : key.replaceAll("_", " ");
    return leaves(isItem && key === "line" ? `line ${item}` : item, [path, step].filter(Boolean).join(" › "), isList);
  });
}

function verdict(value) {
  const shown = value === true ? "yes" : value === false ? "no" : cut(String(value));
  return make("span", { class: TONES[value] }, shown.replaceAll("\n", "⏎"));
}

/** Shows the faults that the lint rules find, and what the template takes. */
export function showReport(panel, { template, goTo }) {
  const report = template.inspect();
  const lint = report.lint.map((finding) => {
    const link = make("button", { type: "button", class: "link" }, `line ${finding.line}`);
    link.addEventListener("click", () => goTo(finding.line));
    return make("li", {}, link, ` ${finding.message ?? ""} `, code(finding.rule));
  });
  const { roles, ...others } = report;
  const names = ["string", "parts", "null"];
  const rows = Object.entries(roles).map(([role, forms]) => [role, ...names.map((name) => verdict(forms[name]?.text === "" ? "nothing" : (forms[name]?.text ?? forms[name] ?? "")))]);
  const parts = Object.entries(others).filter(([key]) => key in TITLES).map(([key, part]) => [TITLES[key], leaves(part)]);
  panel.replaceChildren(
    heading("Lint"),
    lint.length > 0 ? make("ul", { class: "plain" }, ...lint) : note("No rule finds a fault."),
    heading(TITLES.roles),
    table(["role", "as string", "as parts", "null"], rows),
    ...parts.filter(([, found]) => found.length > 0).flatMap(([title, found]) => [
      heading(title),
      table([], found.map(([path, value]) => [path, verdict(value)])),
    ]),
  );
}

/** Returns the description of answers: that of the model's files, or else the derived one. */
function describe({ template, declared }) {
  return declared ?? template.inspect("response").template ?? null;
}

/** Returns the message that an answer is. */
export function readAnswer(shown, answer, lenient) {
  const description = describe(shown);
  if (description === null) throw new TypeError("how the model writes a message could not be derived from the template");
  const { prompt, tools } = shown;
  const prefix = prompt.generation_prompt ? prompt.text.slice(...prompt.generation_prompt) : prompt.text;
  return new ResponseTemplate(description).parse(answer, { prefix, lenient, ...(tools && { tools }) });
}

/** Shows the message that an answer is, how it is read, and where a server stops the model. */
export function showAnswer(panel, shown, answer, lenient) {
  const stops = Object.entries(shown.template.stopTokens()).map(([token, sources]) => [code(token), sources.join(", ").replaceAll("_", " ")]);
  let message;
  try {
    message = pretty(readAnswer(shown, answer, lenient));
  } catch (error) {
    message = explain(error);
  }
  panel.replaceChildren(
    heading("The message"),
    message,
    heading("The server stops the model at"),
    stops.length > 0 ? table(["string", "source"], stops) : note("No end is known."),
    heading(shown.declared ? "The description in the model's files" : "The description, derived from the template"),
    pretty(describe(shown) ?? "none"),
  );
}

/** Shows the text to append after the answer. */
export function showAppend(panel, piece) {
  const length = make("p", { class: "note" }, `${[...piece].length} characters are appended after the answer. The model has read the rest already.`);
  panel.replaceChildren(heading("The text to append"), make("pre", { id: "piece" }, piece), length);
}
