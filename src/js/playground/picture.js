// Draws a prompt as `chat-template render --explain-html` does: each part in the colour of its origin.

const NAMES = { template: "control token", input: "control token that the input wrote", mixed: "control token that the template and the input wrote" };
const INVISIBLE = /[\s\p{C}\p{Z}\u034f\u115f\u1160\u2800\u3164\uffa0\ufe00-\ufe0f]/u;
const SIGNS = { " ": "·", "\t": "⇥", "\n": "⏎", "\r": "␍" };

/** The number of characters after which a prompt is cut. */
const MOST = 300_000;

/** Makes an element with classes or attributes, and children. */
export function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== "") element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function kindOf(segment) {
  if (segment.from === "input") return segment.paths ? "changed" : "input";
  return segment.by ?? segment.from;
}

function placeOf(segment) {
  if (segment.from === "template") return `line ${segment.line}`;
  if (segment.paths) return segment.paths.map((path) => path || "the input").join(", ");
  return segment.key ? `key of ${segment.path}` : (segment.path ?? segment.name);
}

const hue = (message) => (message === undefined ? undefined : `--hue:${(message * 137 + 230) % 360}`);

// Returns the nodes of a string whose invisible characters have signs.
function withSigns(text) {
  const nodes = [];
  let plain = "";
  for (const char of text) {
    if (!INVISIBLE.test(char)) {
      plain += char;
      continue;
    }
    const sign = SIGNS[char] ?? `\\u{${char.codePointAt(0).toString(16)}}`;
    nodes.push(plain, " \t\n".includes(char) ? make("i", { "data-sign": sign }, char) : make("i", { "data-sign": sign, class: "alone" }));
    plain = "";
  }
  return [...nodes, plain];
}

/** Returns the parts of turns with their names, in the order of the text. */
function partsOfTurns(turns) {
  const named = turns.flatMap((turn) => ["header", "body", "close"].flatMap((name) => turn[name].map(([start, end]) => ({ start, end, name }))));
  return named.sort((one, other) => one.start - other.start);
}

// Returns a function that finds the range at a place. The places must not decrease.
function finder(ranges) {
  let index = 0;
  return (at) => {
    while (index < ranges.length && ranges[index].end <= at) index += 1;
    return index < ranges.length && ranges[index].start <= at ? ranges[index] : undefined;
  };
}

/** Returns the nodes of a prompt. `nameOf` names a message by its index. */
export function draw(prompt, nameOf) {
  const written = prompt.assistant.map(([start, end]) => ({ start, end }));
  const turns = partsOfTurns(prompt.turns);
  const ranges = [...prompt.control_tokens, ...written, ...turns];
  const edges = [...new Set(ranges.flatMap(({ start, end }) => [start, end]))].sort((one, other) => one - other);
  const [tokenAt, writtenAt, turnAt] = [prompt.control_tokens, written, turns].map(finder);
  const untrusted = new Set(prompt.untrusted.map(({ start }) => start));
  const nodes = [];
  let [edge, open, holder] = [0, undefined, undefined];
  for (const [index, segment] of prompt.segments.entries()) {
    for (let start = segment.start, end; start < segment.end; start = end) {
      if (start > MOST) return [...nodes, "… the rest of the prompt is left out"];
      while (edges[edge] <= start) edge += 1;
      end = Math.min(segment.end, edges[edge] ?? segment.end);
      const [token, turn, isWritten] = [tokenAt(start), turnAt(start)?.name, writtenAt(start) !== undefined];
      const [kind, owner] = [kindOf(segment), segment.message];
      const attributes = {
        class: ["part", kind, owner !== undefined && "owned", isWritten && "assistant", turn].filter(Boolean).join(" "),
        style: hue(owner),
        "data-segment": index,
        "data-place": placeOf(segment),
        "data-line": segment.line,
        "data-at": segment.at && `characters ${segment.at[0]} to ${segment.at[1]}`,
        "data-owner": owner === undefined ? undefined : nameOf(owner),
        "data-turn": turn,
        "data-writer": isWritten ? "the model" : undefined,
        "data-token": token && NAMES[token.origin],
      };
      const part = make("span", attributes, ...withSigns(prompt.text.slice(start, end)));
      if (token === undefined) {
        nodes.push(part);
      } else if (token === open) {
        holder.append(part);
      } else {
        const name = untrusted.has(token.start) ? "control untrusted" : "control";
        nodes.push((holder = make("b", { class: name }, part)));
      }
      open = token;
    }
  }
  return nodes;
}

/** Returns the legend of the messages that own a part of the prompt. */
export function listOwners(prompt, nameOf) {
  const owners = [...new Set(prompt.segments.map((segment) => segment.message))].filter((owner) => owner !== undefined);
  const items = owners.sort((one, other) => one - other).map((owner) => make("li", {}, make("span", { class: "part owned", style: hue(owner) }, nameOf(owner))));
  return [...items, make("li", {}, make("span", { class: "part" }, "no message"))];
}
