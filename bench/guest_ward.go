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
	runtime   *cocoon.Runtime
	module    *guest.Module
	engine    wazero.Runtime
	instances []*guest.Instance
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
func (w *ward) close() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, in := range w.instances {
		err = errors.Join(err, in.Shutdown(ctx))
	}
	return errors.Join(err, w.runtime.Shutdown(ctx), w.engine.Close(ctx))
}

// instantiate makes an instance, which close shuts down.
func (w *ward) instantiate(ctx context.Context) (*guest.Instance, error) {
	in, err := w.module.Instantiate(ctx, nil)
	if err == nil {
		w.instances = append(w.instances, in)
	}
	return in, err
}
