"""Renders with the WebAssembly port: `python render.py chat-template.wasm < requests.jsonl`, one answer a line."""
import sys

import wasmtime

engine = wasmtime.Engine()
linker = wasmtime.Linker(engine)
linker.define_wasi()
store = wasmtime.Store(engine)
wasi = wasmtime.WasiConfig()
wasi.argv = ["chat-template", "port"]
wasi.inherit_stdin()
wasi.inherit_stdout()
store.set_wasi(wasi)
instance = linker.instantiate(store, wasmtime.Module.from_file(engine, sys.argv[1]))
try:
    instance.exports(store)["_start"](store)
except wasmtime.ExitTrap as ended:
    sys.exit(ended.code)
