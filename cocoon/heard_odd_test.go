package cocoon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// odd is a context with a method that misbehaves once it is armed.
type odd struct {
	context.Context
	armed  *atomic.Bool
	method string
	do     func()
}

func (o odd) in(method string) {
	if o.method == method && o.armed.Load() {
		o.do()
	}
}

func (o odd) Deadline() (time.Time, bool) { o.in("Deadline"); return o.Context.Deadline() }
func (o odd) Done() <-chan struct{}       { o.in("Done"); return o.Context.Done() }
func (o odd) Err() error                  { o.in("Err"); return o.Context.Err() }
func (o odd) Value(key any) any           { o.in("Value"); return o.Context.Value(key) }

var methods = []string{"Deadline", "Done", "Err", "Value"}

// curious registers a policy that reads from the context at each tick, and has no effect on tasks.
func curious(t *testing.T, rt *Runtime) *Registration {
	t.Helper()
	return register(t, rt, Policy{Name: "curious", On: Every(100 * time.Microsecond),
		State: map[string]any{"seen": false}, Expr: `set("seen", task.cancelled or task.deadline < duration("1h"))`})
}

// Invariant 10: a context has methods that lock what its task holds. No other task may notice.
func TestAContextMayLock(t *testing.T) {
	for _, method := range methods {
		t.Run(method, func(t *testing.T) {
			rt := start(t, Config{Slots: 2})
			mu, armed := new(sync.Mutex), new(atomic.Bool)
			ctx := odd{background, armed, method, func() { mu.Lock(); defer mu.Unlock() }}
			begun := make(chan struct{})
			release := make(chan struct{})
			done := make(chan error, 1)
			go func() {
				done <- rt.Run(ctx, "holder", func(context.Context) error {
					mu.Lock()
					armed.Store(true)
					curious(t, rt)
					close(begun)
					<-release
					mu.Unlock()
					return nil
				})
			}()
			receive(t, "the holder", begun)
			within(t, "others, while a context waits for its task's lock", func() {
				for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
					must(t, rt.Run(background, "other", func(ctx context.Context) error { return Block(ctx, func() error { return nil }) }))
				}
			})
			close(release)
			must(t, receive(t, "the holder's end", done))
		})
	}
}

// A context that panics while its task runs: its values stay unknown, and a throw still arrives as
// a throw.
func TestAContextMayPanicWhileItsTaskRuns(t *testing.T) {
	for _, method := range methods {
		t.Run(method, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			var seen *Registration
			limit := fmt.Sprintf("%dms", longtest.Count(50, 10))
			register(t, rt, Policy{Name: "limit", On: Every(time.Millisecond), Expr: `task.running > duration("` + limit + `") ? throw("x") : continue()`})
			armed := new(atomic.Bool)
			ctx := odd{background, armed, method, func() { panic("odd") }}
			preemption(t, rt.Run(ctx, "job", func(ctx context.Context) error {
				armed.Store(true)
				seen = curious(t, rt) // reads from the context, which was not read on arrival
				return spinForever(ctx)
			}))
			if st := seen.Stats(); st.Evaluations == 0 || st.Errors > 0 {
				t.Errorf("the policy: %+v", st)
			}
			h := begun(t, rt.Loop(), odd{background, new(atomic.Bool), method, ctx.do}, "job", func(ctx context.Context) error {
				for TaskOf(ctx).Status() == Started {
					SafePoint(ctx)
				}
				return nil
			})
			armed.Store(true)
			h.Cancel() // does not panic
			preemption(t, h.Wait(background))
		})
	}
}

// A context that panics when its task arrives. The panic is the caller's, as from any call of the
// context, and no part of the task has begun. Go reports it in its handle.
func TestAContextMayPanicOnArrival(t *testing.T) {
	for _, method := range []string{"Deadline", "Err", "Value"} {
		t.Run(method, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			curious(t, rt)
			run := func(ctx context.Context) {
				defer func() {
					if r := recover(); r != "odd" {
						t.Errorf("Run panicked with %v", r)
					}
				}()
				_ = rt.Run(ctx, "job", idle)
			}
			armed := new(atomic.Bool)
			armed.Store(true)
			panics := func() { panic("odd") }
			run(odd{background, armed, method, panics})
			must(t, rt.Run(background, "outer", func(ctx context.Context) error {
				run(odd{ctx, armed, method, panics})
				if s := strandOf(ctx); s == nil || s.task != TaskOf(ctx) {
					t.Error("the outer task is not what its goroutine runs any more")
				}
				if method != "Value" { // Go reads values at once, on the caller's goroutine
					h := rt.Go(odd{ctx, armed, method, panics}, "child", idle)
					var p *PanicError
					if err := h.Wait(ctx); !errors.As(err, &p) || p.Value != "odd" || h.Task().Status() != CancelledBeforeStart {
						t.Errorf("the child: %v, %v", err, h.Task().Status())
					}
				}
				if n := len(TaskOf(ctx).Children()); n != 0 {
					t.Errorf("%d children are left", n)
				}
				return nil
			}))
		})
	}
}

// Invariant 10: a context panics, or never returns, while its task waits in the queue.
func TestAContextMayPanicInTheQueue(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	release := taken(t, rt.Loop())
	armed := new(atomic.Bool)
	armed.Store(true)
	h := rt.Go(odd{background, armed, "Done", func() { panic("odd") }}, "job", idle)
	var p *PanicError
	if err := h.Wait(background); !errors.As(err, &p) || p.Value != "odd" {
		t.Errorf("it ended with %v", err)
	}
	release()
	must(t, rt.Run(background, "next", idle))
}

// A context that is slow to report its end delays only its own task, and its end is known
// eventually.
func TestAContextMayBeSlow(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	register(t, rt, Policy{Name: "gone", On: Every(100 * time.Microsecond), Expr: `task.cancelled ? throw("gone") : continue()`})
	ctx, cancel := context.WithCancel(background)
	cancelled := odd{ctx, new(atomic.Bool), "Done", nil}
	answer := make(chan struct{})
	asked := make(chan struct{}, 1)
	cancelled.do = func() {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-answer
	}
	cancelled.armed.Store(true)
	done := make(chan error, 1)
	go func() {
		done <- rt.Run(cancelled, "job", func(ctx context.Context) error {
			cancelled.armed.Store(true)
			receive(t, "the question", asked)
			for end := time.Now().Add(10 * time.Millisecond); time.Now().Before(end); {
				SafePoint(ctx) // no throw: the end is not known
			}
			cancel()
			must(t, rt.Run(background, "other", idle))
			close(answer)
			return spinForever(ctx)
		})
	}()
	preemption(t, receive(t, "the task", done))
}
