// Compares the speed of `apply` with that of @huggingface/jinja: Qwen3 with 10 messages. Run it by hand on a machine that does nothing else.

import { readFileSync } from "node:fs";

import { Template } from "@huggingface/jinja";
import { ChatTemplate } from "../../src/js/dist/node.js";

const source = readFileSync(new URL("../cases/families/qwen3.jinja", import.meta.url), "utf8");
const text = "The answer depends on the weather, on the day of the week, and on what was said before. ".repeat(3);
const messages = Array.from({ length: 10 }, (_, index) => ({ role: index % 2 ? "assistant" : "user", content: `${index}: ${text}` }));

const [ours, theirs] = [ChatTemplate.fromSource(source), new Template(source)];
const apply = () => ours.apply(messages, { add_generation_prompt: true });
const render = () => theirs.render({ messages, add_generation_prompt: true });
if (apply() !== render()) throw new Error("the prompts differ");

/** Returns the microseconds of a call: the least of several rounds, because other programs only add to it. */
function measure(call) {
  const rounds = Array.from({ length: 15 }, () => {
    const start = process.hrtime.bigint();
    for (let count = 0; count < 400; count += 1) call();
    return Number(process.hrtime.bigint() - start) / 400_000;
  });
  return Math.min(...rounds);
}

const [us, them] = [measure(apply), measure(render)];
console.log(`apply ${us.toFixed(1)} µs, @huggingface/jinja ${them.toFixed(1)} µs: ${(them / us).toFixed(1)} times as fast`);
