package main

import (
	"context"
	"errors"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest"
)

// ward is a runtime of Cocoon with one guest.
type ward struct {
	runtime *cocoon.Runtime
	module  *guest.Module
	engine  wazero.Runtime
}

// openWard makes the runtime and compiles the guest. The guest's import env.yield is cocoon.Yield.
func openWard(c cocoon.Config, g guest.Config, wasm []byte) (w *ward, err error) {
	ctx := context.Background()
	w = &ward{}
	c.QuietThrows = true
	if w.runtime, err = cocoon.New(c); err != nil {
		return nil, err
	}
	w.engine = wazero.NewRuntime(ctx)
	g.Runtime, g.Loop = w.engine, w.runtime.Loop()
	_, err = w.engine.NewHostModuleBuilder("env").NewFunctionBuilder().
		WithFunc(func(ctx context.Context) { cocoon.Yield(ctx) }).Export("yield").Instantiate(ctx)
	if err == nil {
		w.module, err = guest.Compile(ctx, wasm, g)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// close ends the guests and the runtime.
func (w *ward) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return errors.Join(w.runtime.Shutdown(ctx), w.engine.Close(ctx))
}

// spawn starts threads of the function, each in an instance of its own. It makes all instances first,
// because threads that spin would delay the rest.
func (w *ward) spawn(ctx context.Context, n int, function string) (all []*guest.Thread, err error) {
	instances := make([]*guest.Instance, n)
	for i := range instances {
		if instances[i], err = w.module.Instantiate(ctx, nil); err != nil {
			return nil, err
		}
	}
	for _, in := range instances {
		all = append(all, in.Spawn(ctx, function))
	}
	return all, nil
}
