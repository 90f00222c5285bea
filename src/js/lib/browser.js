// The package in browsers and for bundlers.
import init from "./module.js";

await init({ module_or_path: new URL("./module_bg.wasm", import.meta.url) });
export * from "./classes.js";
