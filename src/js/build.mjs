// Builds the package and the page into `dist`: `node build.mjs`, or `node build.mjs --bare` for a package without `inspect` and what
// depends on it, in `dist/bare`.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

import { buildSync } from "esbuild";

const here = (path) => new URL(path, import.meta.url).pathname;
const target = process.env.CARGO_TARGET_DIR ?? here("../../target");
const isBare = process.argv.includes("--bare");
const dist = here(isBare ? "dist/bare" : "dist");

function cargo(...given) {
  execFileSync("cargo", given, { stdio: "inherit", cwd: here(".") });
}

const shared = ["--locked", "--target-dir", target];
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
cargo("build", "--release", "--target", "wasm32-unknown-unknown", ...shared, ...(isBare ? ["--no-default-features"] : []));
cargo("run", "--quiet", "--example", "bindgen", ...shared, "--", `${target}/wasm32-unknown-unknown/release/chat_template_js.wasm`, dist);
cpSync(here("lib"), dist, { recursive: true });

const module = `${dist}/module_bg.wasm`;
const compressed = gzipSync(readFileSync(module), { level: 9 });
const kilobytes = (bytes) => `${Math.round(bytes / 1000)} kB`;
console.log(`${module}: ${kilobytes(statSync(module).size)}, compressed ${kilobytes(compressed.length)}`);

// One file, which loads nothing. It has the style sheets and the script of the pages that the program writes.
function buildPage() {
  const read = (path) => readFileSync(here(path), "utf8");
  const bundled = buildSync({ entryPoints: [here("playground/main.js")], bundle: true, minify: true, format: "iife", write: false, logLevel: "error" });
  const parts = {
    style: ["../tool/src/page.css", "../tool/src/cli/explain/picture.css", "playground/page.css"].map(read).join("\n"),
    page: read("../tool/src/cli/explain/page.js"),
    script: bundled.outputFiles[0].text,
    module: compressed.toString("base64"),
  };
  const page = read("playground/page.html").replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
  writeFileSync(`${dist}/playground.html`, page);
  console.log(`${dist}/playground.html: ${kilobytes(page.length)}`);
}

if (!isBare) buildPage();
