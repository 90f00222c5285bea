// The npm package as a port of the suite: a JSON request a line on standard input, a JSON answer a line on standard output.
//
//   chat-template conformance run --port 'node tests/js/port.mjs'
//   chat-template conformance run --port 'node tests/js/port.mjs --chromium'

import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

import { launch } from "./chromium.mjs";

async function inNode() {
  await import("../../src/js/dist/node.js");
  const { answerLine } = await import("./answers.mjs");
  return { answer: answerLine, close() {} };
}

// Serves the files of the repository to a page that answers.
async function inChromium() {
  const server = createServer(({ url }, response) => {
    const type = url === "/" ? "text/html" : url.endsWith(".wasm") ? "application/wasm" : "text/javascript";
    response.setHeader("content-type", type);
    if (url === "/") response.end('<!DOCTYPE html><link rel="icon" href="data:,">');
    else createReadStream(new URL(`../..${url}`, import.meta.url)).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await launch();
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.evaluate(async () => {
    await import("/src/js/dist/browser.js");
    ({ answerLine: globalThis.answerLine } = await import("/tests/js/answers.mjs"));
  });
  const close = () => Promise.all([browser.close(), server.close()]);
  return { answer: (line) => page.evaluate((line) => globalThis.answerLine(line), line), close };
}

const { answer, close } = await (process.argv.includes("--chromium") ? inChromium() : inNode());
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  if (line.trim() !== "") process.stdout.write(`${await answer(line)}\n`);
}
await close();
