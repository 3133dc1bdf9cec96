// Package cocoon has what the checkers know of the real one.
package cocoon

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

type (
	Config    struct{ Slots int }
	Runtime   struct{}
	Loop      struct{}
	Handle    struct{}
	Policy    = policy.Spec
	Trigger   = policy.Trigger
	Match     = policy.Match
	TimeLimit = policy.TimeLimit
	PerLoop   = policy.PerLoop
	Keyed     = policy.Keyed
	Bucket    = policy.Bucket
)

const (
	Enforce = policy.Enforce
	Observe = policy.Observe
)

type Registration struct{}

type Func struct {
	Name string
	Do   func(ctx context.Context)
}

var (
	OnEnqueue = policy.On(stubs.Enqueue)
	OnStart   = policy.On(stubs.Start)
	OnBlock   = policy.On(stubs.Block)
	OnUnblock = policy.On(stubs.Unblock)
	OnExit    = policy.On(stubs.Exit)
	OnLeave   = policy.On(stubs.Leave)
)

func Every(interval time.Duration) Trigger { return policy.Every(interval) }
func OnNotify(name string) Trigger         { return policy.OnCustom(name) }

func New(cfg Config) (rt *Runtime, err error) { return nil, nil }

func (rt *Runtime) Run(ctx context.Context, name string, fn func(ctx context.Context) error) error {
	return nil
}
func (rt *Runtime) Go(ctx context.Context, name string, fn func(ctx context.Context) error) *Handle {
	return nil
}
func (l *Loop) Run(ctx context.Context, name string, fn func(ctx context.Context) error) error {
	return nil
}
func (l *Loop) Go(ctx context.Context, name string, fn func(ctx context.Context) error) *Handle {
	return nil
}
func Run(ctx context.Context, name string, fn func(ctx context.Context) error) error  { return nil }
func Go(ctx context.Context, name string, fn func(ctx context.Context) error) *Handle { return nil }

func SafePoint(ctx context.Context)                        {}
func Yield(ctx context.Context)                            {}
func Block(ctx context.Context, fn func() error) error     { return nil }
func BlockCall(ctx context.Context, fn func() error) error { return nil }
func Wait(ctx context.Context, fn func())                  {}
func Section[T any](ctx context.Context, name string, fn func() (T, error)) (result T, err error) {
	return fn()
}

func (rt *Runtime) RegisterPolicy(p Policy) (*Registration, error)              { return nil, nil }
func (rt *Runtime) RegisterTimeLimit(t TimeLimit) (*Registration, error)        { return nil, nil }
func (rt *Runtime) RegisterDefaultPreemption(on Trigger) (*Registration, error) { return nil, nil }
func (rt *Runtime) RegisterState(values map[string]any) error                   { return nil }
func (rt *Runtime) RegisterSafeFunc(f any) error                                { return nil }
func (rt *Runtime) RegisterPreemptibleFunc(f any) error                         { return nil }
func (rt *Runtime) LoadPolicies(r io.Reader) error                              { return nil }
func (rt *Runtime) LoadPolicyFile(name string) error                            { return nil }
func (rt *Runtime) WatchPolicyFile(ctx context.Context, name string, signals ...os.Signal) error {
	return nil
}
func (r *Registration) Update(p Policy) error        { return nil }
func (r *Registration) Cancel()                      {}
func RegisterPolicy(p Policy) (*Registration, error) { return nil, nil }
func RegisterState(values map[string]any) error      { return nil }
func RegisterSafeFunc(f any) error                   { return nil }
func RegisterPreemptibleFunc(f any) error            { return nil }
