// Renders with the WebAssembly port: `node render.mjs chat-template.wasm < requests.jsonl`, one answer a line.
import { openSync, readFileSync } from "node:fs";
import { argv, exit } from "node:process";
import { WASI } from "node:wasi";

// Descriptors of its own wait for input and for room for output; those of the process do not.
const [stdin, stdout] = [openSync("/dev/stdin"), openSync("/dev/stdout", "a")];
const wasi = new WASI({ version: "preview1", args: ["chat-template", "port"], stdin, stdout });
const module = await WebAssembly.compile(readFileSync(argv[2]));
exit(wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject())));
