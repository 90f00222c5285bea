// Builds the package into `dist`: `node build.mjs`, or `node build.mjs --bare` for one without `inspect` and what depends on it,
// in `dist/bare`.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";

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
