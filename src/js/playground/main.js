// The page: reads the inputs, shows the prompt, and keeps the state in the link.

import { ChatTemplate, TemplateError } from "../dist/classes.js";
import init from "../dist/module.js";
import { explain, readAnswer, showAnswer, showAppend, showChanges, showReport, showTurns } from "./details.js";
import { EXAMPLE } from "./example.js";
import { draw, listOwners, make } from "./picture.js";

const $ = (id) => document.getElementById(id);

/** The elements whose values are the state. */
const TEXTS = ["template", "request", "format", "tools", "variables", "tokens", "answer", "next"];
const CHECKS = ["generate", "lenient"];
/** The largest size of a state, and of the module, in bytes. */
const MOST = 16 << 20;

const TABS = ["turns", "changes", "report", "answer", "append"];

/** What the fields have no place for: control tokens without names, the model's templates, and its description of answers. */
let extra = {};
let shown = null;
let timer = 0;

function say(text) {
  $("status").textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => ($("status").textContent = ""), 4000);
}

class FieldError extends Error {}

function note(id, text, isBad) {
  $(`${id}-note`).textContent = text;
  $(`${id}-note`).classList.toggle("bad", isBad);
  $(id).setAttribute("aria-invalid", isBad);
}

// Returns the value of a field of JSON, or undefined if it is empty.
function read(id) {
  const text = $(id).value.trim();
  note(id, "", false);
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    note(id, error.message, true);
    throw new FieldError();
  }
}

function readTemplate() {
  const [source, tokens] = [$("template").value, $("tokens").value];
  if (shown?.source !== source || shown.tokens !== tokens) {
    const template = ChatTemplate.fromSource(source, read("tokens"));
    return { source, tokens, template };
  }
  return { source, tokens, template: shown.template };
}

/** Renders the inputs. Text of messages stays JSON text, so that 1.0 stays a float. */
function render() {
  const request = read("request") ?? [];
  const [tools, variables] = ["tools", "variables"].map(read);
  const made = readTemplate();
  const rendering = { trace: true, assistant: true, generation_prompt: true, control_tokens: { policy: "split", tokens: extra.tokens } };
  const isBody = !Array.isArray(request);
  const text = (id) => $(id).value.trim();
  let prepared, prompt, messages;
  if (isBody) {
    note("request", "The body of a request: it has its own tools and variables.", false);
    prepared = made.template.prepare(text("request"), { ...rendering, format: $("format").value || undefined });
    [prompt, messages] = [prepared.render(), prepared.messages];
  } else {
    const given = { tools: text("tools"), variables: text("variables"), add_generation_prompt: $("generate").checked, ...rendering };
    [prompt, messages] = [made.template.render(text("request") || "[]", given), request];
  }
  const nameOf = (index) => `message ${index + 1}${typeof messages[index]?.role === "string" ? ` (${messages[index].role})` : ""}`;
  return { ...made, prompt, prepared, request, isBody, nameOf, tools: isBody ? prepared.tools : tools, variables, rendering, declared: extra.response };
}

function showError(error) {
  const [box, line] = [$("error"), error?.line];
  const isOfTemplate = error instanceof TemplateError;
  box.hidden = !(error && !(error instanceof FieldError));
  $("prompt").classList.toggle("old", Boolean(error));
  markLine("bad", line);
  if (box.hidden) return;
  const who = { refused: "The template refuses the request", request: "The request is wrong", mismatch: "A value does not fit the template", limit: "A limit is reached", template: "The template is wrong" };
  box.replaceChildren(make("strong", {}, isOfTemplate ? `${who[error.class] ?? "Error"}: ${error.message}` : error.message));
  if (error.input_path) box.append(make("p", { class: "note" }, "At ", make("code", {}, error.input_path)));
  const excerpt = isOfTemplate ? error.rendered.split("\n").slice(1).join("\n") : "";
  if (excerpt) box.append(make("pre", {}, excerpt));
  if (!line) return;
  const button = make("button", { type: "button" }, `Go to line ${line}`);
  button.addEventListener("click", () => goTo(line, error.column));
  box.append(button);
}

// Marks a line of the template in the margin.
function markLine(mark, line) {
  $("lines").querySelector(`.${mark}`)?.classList.remove(mark);
  $("lines").children[line - 1]?.classList.add(mark);
}

function scrollToLine(line) {
  const height = $("lines").scrollHeight / Math.max($("lines").children.length, 1);
  const [top, area] = [(line - 1) * height, $("template")];
  if (top < area.scrollTop || top > area.scrollTop + area.clientHeight - 2 * height) area.scrollTop = top - area.clientHeight / 3;
}

function goTo(line, column = 1) {
  const lines = $("template").value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  $("template").focus();
  $("template").setSelectionRange(start + (column ?? 1) - 1, start + (lines[line - 1] ?? "").length);
  scrollToLine(line);
}

function countLines() {
  const count = $("template").value.split("\n").length;
  if ($("lines").children.length === count) return;
  $("lines").replaceChildren(...Array.from({ length: count }, (_, index) => make("span", {}, String(index + 1))));
}

function showPrompt({ prompt, nameOf }) {
  $("prompt").replaceChildren(...draw(prompt, nameOf));
  $("owners").replaceChildren(...listOwners(prompt, nameOf));
  for (const part of document.querySelectorAll(".of-origin .part")) part.parentElement.hidden = !$("prompt").querySelector(`.${part.classList[1]}`);
  const characters = [...prompt.text].length;
  const untrusted = prompt.untrusted.length;
  const warning = untrusted > 0 ? ` The input writes ${untrusted} control token${untrusted > 1 ? "s" : ""}, in red.` : "";
  $("counts").textContent = `${characters} characters, ${prompt.text.split("\n").length} lines, ${prompt.steps} steps.${warning}`;
  $("tab-changes").textContent = prompt.changes.length > 0 ? `Changes (${prompt.changes.length})` : "Changes";
}

// Returns the text to append after the answer and the further messages.
function append() {
  const further = JSON.parse($("next").value.trim() || "[]");
  const items = [readAnswer(shown, $("answer").value, true), further].flat().map((item) => JSON.stringify(item));
  const { template, prompt, rendering, prepared, request } = shown;
  if (prepared) {
    if (!Array.isArray(request.messages)) throw new TypeError("a body of Responses has no list of messages to which an answer is added here");
    const whole = { ...request, messages: [...request.messages, ...items.map((item) => JSON.parse(item))] };
    return template.prepare(whole, { ...rendering, after: prepared }).after(prompt.text, $("answer").value).piece;
  }
  const messages = `${$("request").value.trim().slice(0, -1)}${request.length > 0 ? "," : ""}${items}]`;
  const given = { tools: $("tools").value, variables: $("variables").value, add_generation_prompt: true, ...rendering };
  return template.append(messages, prompt.text, $("answer").value, given);
}

// Shows the panel of the tab that is selected.
function showDetails() {
  const tab = TABS.find((name) => $(`tab-${name}`).getAttribute("aria-selected") === "true");
  const into = { answer: "answered", append: "appended" }[tab] ?? `panel-${tab}`;
  if (shown === null) return;
  try {
    if (tab === "turns") showTurns($(into), shown);
    if (tab === "changes") showChanges($(into), shown);
    if (tab === "report") showReport($(into), { ...shown, goTo });
    if (tab === "answer") showAnswer($(into), shown, $("answer").value, $("lenient").checked);
    if (tab === "append") showAppend($(into), append());
  } catch (error) {
    $(into).replaceChildren(explain(error));
  }
}

function update() {
  countLines();
  try {
    shown = render();
    showError(null);
    showPrompt(shown);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    showError(error);
    return;
  }
  clearTimeout(timer);
  // A report on a template can take half a second.
  timer = setTimeout(showDetails, $("tab-turns").tabIndex === 0 ? 50 : 500);
}

function select(tab) {
  for (const name of TABS) {
    const isSelected = name === tab;
    $(`tab-${name}`).setAttribute("aria-selected", isSelected);
    $(`tab-${name}`).tabIndex = isSelected ? 0 : -1;
    $(`panel-${name}`).hidden = !isSelected;
  }
  showDetails();
}

function setState(state) {
  for (const id of TEXTS) $(id).value = state[id] ?? "";
  for (const id of CHECKS) $(id).checked = Boolean(state[id]);
  extra = state.extra ?? {};
  showNames();
  update();
}

function state() {
  const values = [...TEXTS.map((id) => [id, $(id).value]), ...CHECKS.map((id) => [id, $(id).checked])];
  return { ...Object.fromEntries(values.filter(([, value]) => value !== "" && value !== false)), extra };
}

function showNames() {
  const names = Object.keys(extra.sources ?? {});
  $("named").hidden = names.length < 2;
  $("named").replaceChildren(...names.map((name) => make("option", { value: name }, name)));
  $("named").value = names.find((name) => extra.sources[name] === $("template").value) ?? names[0];
}

async function pipe(bytes, stream) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > MOST) throw new Error("the state is too large");
    parts.push(part.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

// Returns the state as compressed JSON in the characters of links.
async function encode(value) {
  const bytes = await pipe(new TextEncoder().encode(JSON.stringify(value)), new CompressionStream("deflate-raw"));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesOf(text) {
  const chars = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = new Uint8Array(chars.length);
  for (let index = 0; index < chars.length; index += 1) bytes[index] = chars.charCodeAt(index);
  return bytes;
}

async function openLink() {
  if (location.hash.length < 2) return false;
  try {
    setState(JSON.parse(new TextDecoder().decode(await pipe(bytesOf(location.hash.slice(1)), new DecompressionStream("deflate-raw")))));
    return true;
  } catch {
    say("The link is damaged.");
    return false;
  }
}

async function copyLink() {
  history.replaceState(null, "", `#${await encode(state())}`);
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied.");
  } catch {
    say("The link is in the address bar.");
  }
}

function openTemplate(template, response) {
  const { source, sources, specialTokens, controlTokens } = template;
  if (source !== null) $("template").value = source;
  $("tokens").value = JSON.stringify(specialTokens, null, 2);
  const named = Object.values(specialTokens);
  extra = { tokens: controlTokens.filter((token) => !named.includes(token)), sources, response };
}

// Opens the files of a model, or a conversation. The template of `chat_template.jinja` comes after that of the configuration.
async function openFiles(files) {
  const order = (file) => (file.name.endsWith(".jinja") ? 1 : 0);
  for (const file of [...files].sort((one, other) => order(one) - order(other))) {
    try {
      await openFile(file);
    } catch (error) {
      say(`${file.name}: ${error.message}`);
      continue;
    }
    say(`${file.name} is open.`);
  }
  showNames();
  update();
}

// The metadata of a GGUF file are at its start. A file with more of them than this is refused.
const METADATA = 64 << 20;

async function openFile(file) {
  if (file.name.endsWith(".gguf")) {
    openTemplate(ChatTemplate.fromGguf(new Uint8Array(await file.slice(0, METADATA).arrayBuffer())));
    return;
  }
  const text = await file.text();
  if (!file.name.endsWith(".json")) {
    $("template").value = text;
    return;
  }
  const value = JSON.parse(text);
  const isConfig = ["chat_template", "tokenizer_class", "added_tokens_decoder", "bos_token", "eos_token"].some((key) => key in value);
  if (isConfig) openTemplate(ChatTemplate.fromConfig(value), value.response_template);
  else $("request").value = text;
}

function listen() {
  $("inputs").addEventListener("input", update);
  $("inputs").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["answer", "next", "lenient"]) $(id).addEventListener("input", showDetails);
  $("template").addEventListener("scroll", () => ($("lines").scrollTop = $("template").scrollTop));
  $("named").addEventListener("input", () => ($("template").value = extra.sources[$("named").value]));
  $("prompt").addEventListener("part", ({ detail }) => {
    markLine("on", detail.dataset.line);
    if (detail.dataset.line) scrollToLine(detail.dataset.line);
  });
  $("link").addEventListener("click", copyLink);
  $("files").addEventListener("change", (event) => openFiles(event.target.files));
  addEventListener("hashchange", openLink);
  for (const [index, tab] of TABS.entries()) {
    $(`tab-${tab}`).addEventListener("click", () => select(tab));
    $(`tab-${tab}`).addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = TABS[(index + step + TABS.length) % TABS.length];
      select(next);
      $(`tab-${next}`).focus();
    });
  }
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => event.relatedTarget ?? document.body.classList.remove("dropping"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    openFiles(event.dataTransfer.files);
  });
}

async function start() {
  const bytes = await pipe(bytesOf($("module").textContent), new DecompressionStream("gzip"));
  await init({ module_or_path: bytes });
  listen();
  if (!(await openLink())) setState(EXAMPLE);
  performance.mark("prompt");
}

start();
