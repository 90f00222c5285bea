// The package in Node.
import { readFile } from "node:fs/promises";

import init from "./module.js";

await init({ module_or_path: await readFile(new URL("./module_bg.wasm", import.meta.url)) });
export * from "./classes.js";
