//go:build cgo && (linux || darwin) && (amd64 || arm64)

package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/bytecodealliance/wasmtime-go/v39"
)

// wasmtimes are the three ways in which wasmtime runs a guest, first the baseline.
var wasmtimes = []opener{
	func(_ context.Context, wasm []byte) (engine, error) {
		return openWasmtime("wasmtime", wasmtime.NewConfig(), wasm)
	},
	func(_ context.Context, wasm []byte) (engine, error) {
		c := wasmtime.NewConfig()
		c.SetEpochInterruption(true)
		return openWasmtime("wasmtime, epoch", c, wasm)
	},
	func(_ context.Context, wasm []byte) (engine, error) {
		c := wasmtime.NewConfig()
		c.SetConsumeFuel(true)
		return openWasmtime("wasmtime, fuel", c, wasm)
	},
}

// openWasmtime instantiates a guest on wasmtime. It has more fuel, and more epochs, than it uses:
// wasmtime-go cannot suspend it.
func openWasmtime(name string, c *wasmtime.Config, wasm []byte) (engine, error) {
	e := wasmtime.NewEngineWithConfig(c)
	store := wasmtime.NewStore(e)
	store.SetFuel(math.MaxInt64) // an error unless the engine has fuel
	store.SetEpochDeadline(math.MaxInt32)
	module, err := wasmtime.NewModule(e, wasm)
	if err != nil {
		return engine{}, err
	}
	in, err := wasmtime.NewInstance(store, module, nil)
	if err != nil {
		return engine{}, err
	}
	stop := tickEpochs(e)
	return engine{
		name: name,
		call: func(function string, args ...int32) (uint64, error) {
			all := make([]any, len(args))
			for i, a := range args {
				all[i] = a
			}
			result, err := in.GetFunc(store, function).Call(store, all...)
			if err != nil {
				return 0, err
			}
			switch v := result.(type) {
			case int32:
				return uint64(uint32(v)), nil
			case float64:
				return math.Float64bits(v), nil
			}
			return 0, fmt.Errorf("%s returns %T; want an int32 or a float64", function, result)
		},
		close: func() error {
			stop()
			module.Close()
			store.Close()
			e.Close()
			return nil
		},
	}, nil
}

// tickEpochs begins an epoch of the engine each 10 ms, until stop is called.
func tickEpochs(e *wasmtime.Engine) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-tick.C:
				e.IncrementEpoch()
			case <-end:
				tick.Stop()
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}
