package main

import (
	"context"
	"fmt"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest"
	"github.com/cocoon-go/cocoon/guest/meter"
)

// engine runs one instance of a guest, in one of the ways that section guest compares.
type engine struct {
	name string
	// call calls a function with parameters of type i32. The result is an i32, or the bits of an
	// f64.
	call  func(function string, args ...int32) (uint64, error)
	close func() error
}

// opener instantiates a guest.
type opener func(ctx context.Context, wasm []byte) (engine, error)

// The guests of testdata/guest.
const (
	workloadsGuest = "testdata/guest/workloads.wasm"
	smallGuest     = "testdata/guest/small.wasm"
)

// readGuest reads a guest of testdata. go run -C bench runs here.
func readGuest(file string) ([]byte, error) {
	wasm, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("run with go run -C bench .: %w", err)
	}
	return wasm, nil
}

// arguments encodes parameters as wazero does.
func arguments(args []int32) []uint64 {
	all := make([]uint64, len(args))
	for i, a := range args {
		all[i] = api.EncodeI32(a)
	}
	return all
}

// only returns the result of a function that has one.
func only(results []uint64, err error) (uint64, error) {
	if err != nil {
		return 0, err
	}
	return results[0], nil
}

// openPlain instantiates a guest on wazero, without Cocoon.
func openPlain(ctx context.Context, wasm []byte) (engine, error) {
	return openWazero(ctx, "wazero", wazero.NewRuntimeConfig(), wasm)
}

// openInterruptible is openPlain with wazero's own way to stop a guest: the end of the context.
func openInterruptible(ctx context.Context, wasm []byte) (engine, error) {
	ctx, cancel := context.WithCancel(ctx)
	e, err := openWazero(ctx, "wazero, WithCloseOnContextDone", wazero.NewRuntimeConfig().WithCloseOnContextDone(true), wasm)
	if err != nil {
		cancel()
		return e, err
	}
	closeRuntime := e.close
	e.close = func() error { cancel(); return closeRuntime() }
	return e, nil
}

func openWazero(ctx context.Context, name string, config wazero.RuntimeConfig, wasm []byte) (engine, error) {
	rt := wazero.NewRuntimeWithConfig(ctx, config)
	in, err := rt.Instantiate(ctx, wasm)
	if err != nil {
		rt.Close(ctx)
		return engine{}, err
	}
	return engine{
		name: name,
		call: func(function string, args ...int32) (uint64, error) {
			return only(in.ExportedFunction(function).Call(ctx, arguments(args)...))
		},
		close: func() error { return rt.Close(context.Background()) },
	}, nil
}

// openGuest instantiates a guest as package guest does, on a runtime of its own.
func openGuest(mechanism meter.Mechanism) opener {
	return func(ctx context.Context, wasm []byte) (engine, error) {
		w, err := openWard(cocoon.Config{}, guest.Config{Mechanism: mechanism}, wasm)
		if err != nil {
			return engine{}, err
		}
		in, err := w.instantiate(ctx)
		if err != nil {
			w.close()
			return engine{}, err
		}
		return engine{
			name: mechanism.String(),
			call: func(function string, args ...int32) (uint64, error) {
				return only(in.Call(ctx, function, arguments(args)...))
			},
			close: w.close,
		}, nil
	}
}
