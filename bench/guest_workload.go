package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// workload is a function of a guest, and what is called before it.
type workload struct {
	name     string
	function string
	args     []int32
	vector   int // the length of the vectors that the function gets; 0: none
}

// tableOne are the workloads of Table I of "Prototype Preemptive Threading in Wasmtime".
func tableOne(e guestEffort) []workload {
	return []workload{
		{name: "fib", function: "fib", args: []int32{32}},
		{name: "dot", function: "dot", vector: e.vector},
		{name: "matmul", function: "matmul"},
	}
}

// seldom is how many rounds there are for one of wazero's interruption, which takes too long.
const seldom = 5

// round runs the workload in every way, and returns the shortest time that each took, and their
// result. It leaves out wazero's interruption unless all are wanted.
func (w workload) round(ctx context.Context, e guestEffort, wasm []byte, all bool) (took []float64, result uint64, err error) {
	runs, closeAll, err := w.open(ctx, wasm)
	defer func() { err = errors.Join(err, closeAll()) }()
	if err != nil {
		return nil, 0, err
	}
	runtime.GC() // of the last round's instances, so that it does not happen meanwhile
	took = make([]float64, len(runs))
	for n, baseline := 0, time.Duration(0); n < e.runs || baseline < e.span; n++ {
		for i, run := range runs {
			if err := ctx.Err(); err != nil {
				return nil, 0, err
			}
			if i == interruptibleWay && (!all || took[i] > 0) {
				continue
			}
			got, spent, err := spentBy(run)
			if err != nil {
				return nil, 0, err
			}
			if t := float64(spent) / 1e6; took[i] == 0 || t < took[i] {
				took[i] = t
			}
			if i == plainWay {
				baseline += spent
				result = got
			}
			if got != result {
				return nil, 0, fmt.Errorf("the result is %#x, and was %#x", got, result)
			}
		}
	}
	return took, result, nil
}

// spentBy returns the processor time that run takes.
func spentBy(run func() (uint64, error)) (result uint64, spent time.Duration, err error) {
	before := loadtest.CurrentUsage().CPU
	result, err = run()
	return result, loadtest.CurrentUsage().CPU - before, err
}

// open instantiates the guest in every way, and returns functions that run the workload.
func (w workload) open(ctx context.Context, wasm []byte) (runs []func() (uint64, error), closeAll func() error, err error) {
	var engines []engine
	closeAll = func() (err error) {
		for _, e := range engines {
			err = errors.Join(err, e.close())
		}
		return err
	}
	for _, open := range ways() {
		e, err := open(ctx, wasm)
		if err != nil {
			return nil, closeAll, err
		}
		engines = append(engines, e)
		args := w.args
		if w.vector > 0 {
			at, err := e.call("vectors", int32(w.vector))
			if err != nil {
				return nil, closeAll, fmt.Errorf("%s: %w", e.name, err)
			}
			args = []int32{int32(at), int32(w.vector)}
		}
		runs = append(runs, func() (uint64, error) {
			got, err := e.call(w.function, args...)
			if err != nil {
				err = fmt.Errorf("%s: %w", e.name, err)
			}
			return got, err
		})
	}
	return runs, closeAll, nil
}
