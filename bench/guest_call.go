package main

import (
	"context"

	"github.com/tetratelabs/wazero"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest"
)

// guestCall measures a call of a function that adds one: by guest.Call as a task of its own, by
// guest.Call inside a task, in a guest.Batch, and by wazero.
func guestCall(ctx context.Context, r *report, e guestEffort) error {
	wasm, err := readGuest(smallGuest)
	if err != nil {
		return err
	}
	own := func(ctx context.Context, e effort) (figures, error) { return guestCallSide(ctx, e, wasm, false) }
	inside := func(ctx context.Context, e effort) (figures, error) { return guestCallSide(ctx, e, wasm, true) }
	many := func(ctx context.Context, e effort) (figures, error) { return guestBatchSide(ctx, e, wasm) }
	plain := func(ctx context.Context, e effort) (figures, error) { return wazeroCallSide(ctx, e, wasm) }
	got, err := medians(ctx, e.effort, own, inside, many, plain)
	if err != nil {
		return err
	}
	for i, name := range []string{"call", "call in a task", "call in a batch"} {
		r.add(result{Name: name, Metric: "ns", Value: got[i][ns], Unit: "ns", Peer: "wazero", PeerValue: got[3][ns]}, claim{})
		r.add(result{Name: name, Metric: "allocs", Value: got[i][allocs], Unit: "allocs", Peer: "wazero", PeerValue: got[3][allocs]}, claim{})
	}
	return nil
}

func guestCallSide(ctx context.Context, e effort, wasm []byte, inTask bool) (f figures, err error) {
	w, err := openWard(cocoon.Config{}, guest.Config{}, wasm)
	if err != nil {
		return nil, err
	}
	defer w.close()
	in, err := w.instantiate(ctx)
	if err != nil {
		return nil, err
	}
	measure := func(ctx context.Context) (err error) {
		f = perOperation(e.span, func(n int) {
			for range n {
				if _, e := in.Call(ctx, "one", 41); e != nil {
					err = e
				}
			}
		})
		return err
	}
	if inTask {
		return f, w.runtime.Run(ctx, "caller", measure)
	}
	return f, measure(ctx)
}

// guestBatchSide measures a call of a batch. A stretch of the measurement is a batch.
func guestBatchSide(ctx context.Context, e effort, wasm []byte) (f figures, err error) {
	w, err := openWard(cocoon.Config{}, guest.Config{}, wasm)
	if err != nil {
		return nil, err
	}
	defer w.close()
	in, err := w.instantiate(ctx)
	if err != nil {
		return nil, err
	}
	f = perOperation(e.span, func(n int) {
		e := in.Batch(ctx, "one", func(_ context.Context, call func([]uint64) error) error {
			stack := make([]uint64, 1)
			for range n {
				stack[0] = 41
				if err := call(stack); err != nil {
					return err
				}
			}
			return nil
		})
		if e != nil {
			err = e
		}
	})
	return f, err
}

func wazeroCallSide(ctx context.Context, e effort, wasm []byte) (f figures, err error) {
	rt := wazero.NewRuntime(ctx)
	defer rt.Close(ctx)
	_, err = rt.NewHostModuleBuilder("env").NewFunctionBuilder().WithFunc(func() {}).Export("yield").Instantiate(ctx)
	if err != nil {
		return nil, err
	}
	in, err := rt.Instantiate(ctx, wasm)
	if err != nil {
		return nil, err
	}
	one := in.ExportedFunction("one")
	f = perOperation(e.span, func(n int) {
		for range n {
			if _, e := one.Call(ctx, 41); e != nil {
				err = e
			}
		}
	})
	return f, err
}
