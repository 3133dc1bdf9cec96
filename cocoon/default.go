package cocoon

import (
	"context"
	"fmt"
	"sync"
)

// defaultRuntime starts the default runtime on its first use.
var defaultRuntime = sync.OnceValue(func() *Runtime {
	rt, err := New(Config{})
	if err != nil {
		// The zero Config is valid, so this happens only if the operating system refuses memory, or
		// with an unknown COCOON_MODE.
		panic(fmt.Sprintf("cocoon: the default runtime: %v", err))
	}
	return rt
})

// Default returns the runtime of the package-level functions. It has the zero Config and starts on
// first use. Documents and ready-made policies have no such functions: use its methods.
func Default() *Runtime { return defaultRuntime() }

// Run runs fn as a task of the default runtime, on the calling goroutine, and returns fn's error, a
// *PreemptedError if a policy has stopped or refused the task, or another error of Loop.Run.
func Run(ctx context.Context, name string, fn func(ctx context.Context) error) error {
	return Default().Run(ctx, name, fn)
}

// Go starts fn as a task of the default runtime, on a goroutine of its own, see Loop.Go.
func Go(ctx context.Context, name string, fn func(ctx context.Context) error) *Handle {
	return Default().Go(ctx, name, fn)
}

// RegisterPolicy registers a policy with the default runtime, see Runtime.RegisterPolicy.
func RegisterPolicy(p Policy) (*Registration, error) { return Default().RegisterPolicy(p) }

// RegisterState registers states with the default runtime, see Runtime.RegisterState.
func RegisterState(values map[string]any) error { return Default().RegisterState(values) }

// RegisterSafeFunc registers a safe function with the default runtime, see
// Runtime.RegisterSafeFunc.
func RegisterSafeFunc(f any) error { return Default().RegisterSafeFunc(f) }

// RegisterPreemptibleFunc registers a preemptible function with the default runtime, see
// Runtime.RegisterPreemptibleFunc.
func RegisterPreemptibleFunc(f any) error { return Default().RegisterPreemptibleFunc(f) }

// State returns a state of the default runtime, see Runtime.State.
func State(name string) any { return Default().State(name) }
