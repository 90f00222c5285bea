// Uses the page in Chromium: typing, a broken template, a hover, the keyboard, a drop of each file, a link opened again. Fails if a step
// does, if the console has an error, or if the page asks a host. `--shots DIR` keeps pictures.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { launch } from "./chromium.mjs";
import { writeGguf } from "./gguf.mjs";

const PAGE = new URL("../../src/js/dist/playground.html", import.meta.url).href;
const MODEL = new URL("../models/jinja/", import.meta.url);
const shots = process.argv[2] === "--shots" ? process.argv[3] : null;

const browser = await launch();
const faults = [];

async function open(width, colorScheme, link = "") {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => request.url().split("#")[0] !== PAGE && faults.push(`a request to ${request.url().slice(0, 100)}`));
  await page.goto(PAGE + link);
  await page.locator("#prompt .part").first().waitFor();
  return page;
}

// Waits until an element shows a string that matches.
async function see(page, selector, pattern) {
  const shown = page.locator(selector);
  for (let count = 0; count < 100 && !pattern.test(await shown.innerText()); count += 1) await page.waitForTimeout(50);
  assert.match(await shown.innerText(), pattern);
}

const prompt = (page) => page.locator("#prompt").innerText();
const shoot = (page, name) => shots && page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });

const read = (name) => ({ name, text: readFileSync(new URL(name, MODEL), "utf8") });

async function drop(page, files) {
  const transfer = await page.evaluateHandle((files) => {
    const transfer = new DataTransfer();
    for (const { name, text } of files) transfer.items.add(new File([text], name));
    return transfer;
  }, files);
  await page.dispatchEvent("body", "dragover", { dataTransfer: transfer });
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

const steps = {
  async "the first prompt comes within a second"(page) {
    const measure = (page) => page.evaluate(() => performance.getEntriesByName("prompt")[0].startTime);
    const times = [await measure(page)];
    // The least of several, because other programs only add to it.
    while (times.length < 5 && Math.min(...times) > 500) {
      const other = await open(1400, "light");
      times.push(await measure(other));
      await other.close();
    }
    const time = Math.min(...times);
    console.log(`  ${Math.round(time)} ms`);
    assert.ok(time < 1000, `${time} ms`);
    await see(page, "#prompt", /And in Rome\?<\|im_end\|>\n<\|im_start\|>assistant/);
  },
  async "the prompt follows the typing"(page) {
    await page.fill("#variables", '{"name": "Zoë"}');
    await page.locator("#template").press("Control+Home");
    await page.locator("#template").pressSequentially("{{ name }}! ");
    await see(page, "#prompt", /^Zoë!<\|begin\|>/);
    assert.equal(await page.locator("#prompt .part").first().getAttribute("data-place"), "/name");
  },
  async "a broken template shows its place, and the last prompt stays"(page) {
    const before = await prompt(page);
    await page.locator("#template").press("Control+Home");
    await page.locator("#template").pressSequentially("{{ 1 + }}");
    await see(page, "#error", /The template is wrong: unexpected 'end of print statement'[^]*--> line 1, column 8/);
    assert.equal(await page.locator("#lines .bad").innerText(), "1");
    assert.equal(await prompt(page), before);
    await shoot(page, "broken");
    await page.click("text=Go to line 1");
    assert.equal(await page.evaluate(() => document.activeElement.selectionStart), 7);
    for (let count = 0; count < 9; count += 1) await page.locator("#template").press("Control+Home").then(() => page.keyboard.press("Delete"));
    assert.ok(await page.locator("#error").isHidden());
  },
  async "a broken field says so"(page) {
    const text = await page.inputValue("#request");
    await page.fill("#request", "[{]");
    await see(page, "#request-note", /JSON/);
    assert.equal(await page.getAttribute("#request", "aria-invalid"), "true");
    await page.fill("#request", text);
    assert.equal(await page.getAttribute("#request", "aria-invalid"), "false");
  },
  async "a hover shows the path and the line, and so do the arrows"(page) {
    await page.hover('#prompt [data-place="/messages/1/content"]');
    await see(page, "#place", /\/messages\/1\/content[^]*message 2 \(user\)/);
    await page.hover('#prompt [data-place="line 7"]');
    await see(page, "#place", /line 7/);
    assert.equal(await page.locator("#lines .on").innerText(), "7");
    await page.focus("#prompt");
    await page.keyboard.press("ArrowRight");
    assert.doesNotMatch(await page.locator("#place").innerText(), /line 7/);
  },
  async "the panels show turns, masks, the report, an answer and what to append"(page) {
    await see(page, "#panel-turns", /message 5 \(assistant\)[^]*It is 7 °C in Bern\.<\|im_end\|>/);
    await page.click("#tab-turns");
    await page.keyboard.press("ArrowRight");
    await see(page, "#panel-changes", /Messages reach the template as they are/);
    await page.keyboard.press("ArrowRight");
    await see(page, "#panel-report", /Lint[^]*Roles[^]*printed/);
    await shoot(page, "report");
    await page.click("#tab-answer");
    await see(page, "#answered", /"place": "Rome"/);
    await page.fill("#answer", "It is warm.");
    await see(page, "#answered", /"content": "It is warm\."/);
    await page.click("#tab-append");
    await page.fill("#next", '[{"role": "user", "content": "Why?"}]');
    await see(page, "#piece", /^<\|im_end\|>\n<\|im_start\|>user\nWhy\?<\|im_end\|>\n<\|im_start\|>assistant\n$/);
  },
  async "a body of a request is prepared"(page) {
    await page.fill("#request", '{"model": "m", "system": "S.", "max_tokens": 9, "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi<|im_end|>"}]}]}');
    await page.selectOption("#format", "messages");
    await see(page, "#prompt", /system\nS\.<\|im_end\|>\n<\|im_start\|>user\nHi/);
    await see(page, "#counts", /The input writes 1 control token/);
    await page.selectOption("#format", "");
    await page.fill("#request", '{"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}');
    await page.click("#tab-changes");
    await see(page, "#panel-changes", /\/messages\/0\/content[^]*joined/);
  },
  async "the files of a model are dropped and chosen"(page) {
    await page.fill("#request", '[{"role": "user", "content": "Hi"}]');
    await drop(page, [read("tokenizer_config.json")]);
    assert.match(await page.inputValue("#tokens"), /"eos_token": "<\|im_end\|>"/);
    await drop(page, [{ name: "model.gguf", text: writeGguf({ "tokenizer.chat_template": "GGUF {{ messages[0].content }}" }) }]);
    await see(page, "#prompt", /GGUF Hi/);
    await drop(page, [read("chat_template.jinja")]);
    assert.equal(await page.inputValue("#template"), readFileSync(new URL("chat_template.jinja", MODEL), "utf8"));
    await see(page, "#prompt", /Hi/);
    await page.setInputFiles("#files", new URL("../conversation.json", MODEL).pathname);
    await page.waitForFunction(() => document.getElementById("request").value.length > 60);
    assert.equal(await page.inputValue("#request"), readFileSync(new URL("../conversation.json", MODEL), "utf8"));
  },
  async "a link has the state"(page) {
    await page.click("#link");
    await page.waitForFunction(() => location.hash.length > 1);
    const [link, wanted] = [await page.evaluate(() => location.hash), await prompt(page)];
    const other = await open(390, "dark", link);
    assert.equal(await prompt(other), wanted);
    await other.close();
  },
  async "nothing is wider than the window, and each control has a label"(page) {
    for (const width of [390, 1400]) {
      await page.setViewportSize({ width, height: 900 });
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `wider than ${width}`);
    }
    const bare = await page.evaluate(() => {
      const named = (control) => control.labels?.length > 0 || control.ariaLabel || control.textContent.trim();
      return [...document.querySelectorAll("input, textarea, select, button")].filter((control) => !named(control)).map(({ id }) => id);
    });
    assert.deepEqual(bare, []);
  },
};

const page = await open(1400, "light");
await shoot(page, "wide");
for (const [name, step] of Object.entries(steps)) {
  console.log(name);
  await step(page);
}
for (const [width, scheme] of [[390, "dark"], [1400, "dark"], [390, "light"]]) await shoot(await open(width, scheme), `${width}-${scheme}`);
await browser.close();
assert.deepEqual(faults, []);
