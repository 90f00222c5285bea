"use strict";
const prompt = document.getElementById("prompt");
const place = document.getElementById("place");
const parts = [...prompt.querySelectorAll(".part")];
let current = -1;
let lit = [];

// The parts of one segment are neighbours.
function partsOf(segment, index) {
  const isOther = (part) => part.dataset.segment !== segment;
  const after = parts.findIndex((part, other) => other > index && isOther(part));
  return parts.slice(parts.findLastIndex((part, other) => other < index && isOther(part)) + 1, after < 0 ? undefined : after);
}

function show(index) {
  const part = parts[index];
  if (!part || index === current) return;
  current = index;
  const { segment, place: path, at, owner, token, turn, writer } = part.dataset;
  lit.forEach((other) => other.classList.remove("on"));
  lit = partsOf(segment, index);
  lit.forEach((other) => other.classList.add("on"));
  const list = document.createElement("dl");
  const name = document.querySelector(".of-origin ." + part.classList[1]).textContent;
  const entries = [["Origin", name], ["Place", path, true], ["In the string", at], ["Owner", owner ?? "no message"], ["Turn", turn], ["Written by", writer], ["Note", token]];
  for (const [term, text, isCode] of entries) {
    if (!text) continue;
    const entry = document.createElement("div");
    const dt = document.createElement("dt");
    const dd = document.createElement("dd");
    dt.textContent = term;
    dd.textContent = text;
    if (isCode) dd.className = "code";
    entry.append(dt, dd);
    list.append(entry);
  }
  place.replaceChildren(list);
}

for (const type of ["pointerover", "click"]) {
  prompt.addEventListener(type, (event) => show(parts.indexOf(event.target.closest(".part"))));
}
prompt.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  show(Math.min(Math.max(current + step, 0), parts.length - 1));
  parts[current]?.scrollIntoView({ block: "nearest" });
});
