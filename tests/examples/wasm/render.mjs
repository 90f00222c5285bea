// Renders with the WebAssembly port: `node render.mjs chat-template.wasm < requests.jsonl`, one answer a line.
import { openSync, readFileSync } from "node:fs";
import { argv, exit } from "node:process";
import { WASI } from "node:wasi";

// A descriptor of its own waits for input; that of the process does not.
const stdin = openSync("/dev/stdin");
const wasi = new WASI({ version: "preview1", args: ["chat-template", "port"], stdin });
const module = await WebAssembly.compile(readFileSync(argv[2]));
exit(wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject())));
