package guest

import (
	"context"
	"time"

	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// instantiateWASI adds wazero's WASI to the runtime. Functions that may wait are brief calls: a task
// gives its slot back when it is found waiting in one. Listeners do this, because wazero's WASI
// cannot be wrapped: its functions get the calling instance from wazero alone.
func instantiateWASI(ctx context.Context, r wazero.Runtime) error {
	ctx = experimental.WithFunctionListenerFactory(ctx, experimental.FunctionListenerFactoryFunc(listenerOf))
	_, err := wasi_snapshot_preview1.Instantiate(ctx, r)
	return err
}

// mayWait are the functions of WASI preview 1 that may wait.
var mayWait = map[string]bool{
	"poll_oneoff": true, "fd_read": true, "fd_pread": true, "fd_write": true, "fd_pwrite": true,
	"fd_sync": true, "fd_datasync": true, "sock_accept": true, "sock_recv": true, "sock_send": true,
}

func listenerOf(f api.FunctionDefinition) experimental.FunctionListener {
	if mayWait[f.Name()] {
		return waiting{}
	}
	return nil
}

// waiting makes the calls of a function brief calls.
type waiting struct{}

func (waiting) Before(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64, _ experimental.StackIterator) {
	a := activationOf(ctx)
	if a == nil {
		return
	}
	call, err := inside.BeginBrief(a.Context)
	if err != nil {
		a.stop(err)
	}
	a.waits = call
}

func (waiting) After(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64) {
	if a := activationOf(ctx); a != nil && a.waits != nil {
		a.waits.End()
		a.waits = nil
	}
}

func (w waiting) Abort(ctx context.Context, mod api.Module, f api.FunctionDefinition, _ error) {
	w.After(ctx, mod, f, nil)
}

// nanosleep is how the instance's guest sleeps, inside poll_oneoff. The end of the task's context,
// or of the instance, ends the sleep.
func (in *Instance) nanosleep(ns int64) {
	in.mu.Lock()
	a := in.turns.holder
	in.mu.Unlock()
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
