package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
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

// close ends the guests and the runtime. It shuts all instances down at once: a thread needs the
// slot to unwind, and one after the other would each wait for all threads that still spin.
func (w *ward) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var all sync.WaitGroup
	var failed atomic.Pointer[error]
	for _, in := range w.instances {
		all.Go(func() {
			if err := in.Shutdown(ctx); err != nil {
				failed.Store(&err)
			}
		})
	}
	all.Wait()
	err := errors.Join(w.runtime.Shutdown(ctx), w.engine.Close(ctx))
	if one := failed.Load(); one != nil {
		err = errors.Join(*one, err)
	}
	return err
}

// instantiate makes an instance, which close shuts down.
func (w *ward) instantiate(ctx context.Context) (*guest.Instance, error) {
	in, err := w.module.Instantiate(ctx, nil)
	if err == nil {
		w.instances = append(w.instances, in)
	}
	return in, err
}
