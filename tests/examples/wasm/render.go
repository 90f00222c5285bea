// Renders with the WebAssembly port: `go run render.go chat-template.wasm < requests.jsonl`, one answer a line.
package main

import (
	"context"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

func main() {
	ctx := context.Background()
	runtime := wazero.NewRuntime(ctx)
	defer runtime.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, runtime)
	binary, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	config := wazero.NewModuleConfig().WithArgs("chat-template", "port").WithSysWalltime().WithStdin(os.Stdin).WithStdout(os.Stdout)
	if _, err := runtime.InstantiateWithConfig(ctx, binary, config); err != nil {
		panic(err)
	}
}
