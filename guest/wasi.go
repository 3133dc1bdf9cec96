package guest

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// instantiateWASI adds wazero's WASI to the runtime, with listeners of the functions that may wait.
// Listeners do it, because wazero's WASI cannot be wrapped: its functions get the calling instance
// from wazero alone.
func instantiateWASI(ctx context.Context, r wazero.Runtime) error {
	ctx = experimental.WithFunctionListenerFactory(ctx, experimental.FunctionListenerFactoryFunc(listenerOf))
	_, err := wasi_snapshot_preview1.Instantiate(ctx, r)
	return err
}

func listenerOf(f api.FunctionDefinition) experimental.FunctionListener {
	switch f.Name() {
	case "fd_read", "fd_pread", "fd_write", "fd_pwrite", "fd_sync", "fd_datasync", "sock_accept", "sock_recv", "sock_send":
		return waiting{}
	case "poll_oneoff":
		return polling{}
	case "sched_yield":
		return yielding{}
	}
	return nil
}

// waiting makes the calls of a function brief calls: the task gives its slot back when the runtime
// finds it waiting. The thread keeps its turn in the instance, because the function holds a view of
// the guest's memory.
type waiting struct{}

func (waiting) Before(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64, _ experimental.StackIterator) {
	a := activationOf(ctx)
	if a == nil {
		return
	}
	call, err := inside.BeginBrief(a.Context, inside.Works)
	if err != nil {
		a.stop(err)
	}
	a.waits = call
}

func (waiting) After(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64) {
	if a := activationOf(ctx); a != nil {
		a.waited()
		a.soon()
	}
}

func (w waiting) Abort(ctx context.Context, mod api.Module, f api.FunctionDefinition, _ error) {
	w.After(ctx, mod, f, nil)
}

// waited ends the brief call in progress, if there is one.
func (a *activation) waited() {
	call := a.waits
	a.waits = inside.Call{}
	call.End()
}

// polling makes poll_oneoff sleep before it begins, if the guest waits only for a clock: then the
// function holds no view of memory yet, and other threads of the instance run while it sleeps.
// Otherwise it is waiting.
type polling struct{ waiting }

func (w polling) Before(ctx context.Context, mod api.Module, f api.FunctionDefinition, params []uint64, frames experimental.StackIterator) {
	a := activationOf(ctx)
	if a == nil {
		return
	}
	d, ok := sleepOf(mod.Memory(), params)
	if !ok {
		w.waiting.Before(ctx, mod, f, params, frames)
		return
	}
	a.sleep(d)
}

func (w polling) After(ctx context.Context, mod api.Module, f api.FunctionDefinition, results []uint64) {
	if a := activationOf(ctx); a != nil {
		a.keeper().slept = false
	}
	w.waiting.After(ctx, mod, f, results)
}

// mostClocks bounds the work of sleepOf. More subscriptions are left to wazero.
const mostClocks = 1024

// sleepOf returns how long a poll_oneoff with these parameters sleeps. It is not ok if the guest
// waits for more than clocks, or if wazero will refuse the call.
func sleepOf(mem api.Memory, params []uint64) (d time.Duration, ok bool) {
	// of a subscription: user data 0, tag 8, clock 16, timeout 24, precision 32, flags 40
	const size = 48
	in, n := uint32(params[0]), uint32(params[2])
	if mem == nil || n == 0 || n > mostClocks {
		return 0, false
	}
	b, ok := mem.Read(in, n*size)
	if !ok {
		return 0, false
	}
	d = math.MaxInt64
	for ; len(b) > 0; b = b[size:] {
		if b[8] != 0 || binary.LittleEndian.Uint16(b[40:]) != 0 {
			return 0, false
		}
		d = min(d, time.Duration(min(binary.LittleEndian.Uint64(b[24:]), math.MaxInt64)))
	}
	return d, true
}

// sleep sleeps while other threads of the instance, and other tasks, run. The end of the task's
// context, or of the instance, ends the sleep and the call.
func (a *activation) sleep(d time.Duration) {
	a.keeper().slept = true
	if d == 0 {
		return
	}
	end := time.NewTimer(d)
	defer end.Stop()
	over := false
	a.keeper().apart(func() {
		cocoon.Block(a.Context, func() error {
			select {
			case <-end.C:
				over = true
			case <-a.in.closing:
			case <-a.Context.Done():
			}
			return nil
		})
	})
	if !over {
		a.look()
	}
}

// nanosleep is how the instance's guest sleeps inside poll_oneoff, which has the turn.
func (in *Instance) nanosleep(ns int64) {
	a := in.holder()
	if a != nil && a.slept {
		return
	}
	end := time.NewTimer(time.Duration(ns))
	defer end.Stop()
	var done <-chan struct{}
	if a != nil {
		done = a.Context.Done()
	}
	select {
	case <-end.C:
	case <-in.closing:
	case <-done:
	}
}

// yielding makes sched_yield let other threads and tasks go first.
type yielding struct{ waiting }

func (yielding) Before(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64, _ experimental.StackIterator) {
	if a := activationOf(ctx); a != nil {
		a.pass(true)
	}
}
