"use strict";
const prompt = document.getElementById("prompt");
const place = document.getElementById("place");
const listParts = () => [...prompt.querySelectorAll(".part")];
let current = null;

// The parts of one segment are neighbours.
function partsOf(part) {
  const parts = listParts();
  const [index, isOther] = [parts.indexOf(part), (other) => other.dataset.segment !== part.dataset.segment];
  const after = parts.findIndex((other, at) => at > index && isOther(other));
  return parts.slice(parts.findLastIndex((other, at) => at < index && isOther(other)) + 1, after < 0 ? undefined : after);
}

function show(part) {
  if (!part || part === current) return;
  current = part;
  const { place: path, at, owner, token, turn, writer } = part.dataset;
  prompt.querySelectorAll(".on").forEach((other) => other.classList.remove("on"));
  partsOf(part).forEach((other) => other.classList.add("on"));
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
  prompt.dispatchEvent(new CustomEvent("part", { detail: part }));
}

for (const type of ["pointerover", "click"]) {
  prompt.addEventListener(type, (event) => show(event.target.closest(".part")));
}
prompt.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const parts = listParts();
  show(parts[Math.min(Math.max(parts.indexOf(current) + step, 0), parts.length - 1)]);
  current?.scrollIntoView({ block: "nearest" });
});
