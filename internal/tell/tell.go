// Package tell reports throws to code as the errors of its calls. Code that writes to a client, or
// reads from one, holds locks and waits for goroutines during such a call, and does not release
// them by defer. So a throw must not unwind such a call.
package tell

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/safepoint"
)

// Caller makes a task's calls that return errors. Any goroutine may use it; only the task's
// goroutine is ever thrown into.
type Caller struct {
	Ctx context.Context // the task's

	throw atomic.Pointer[cocoon.PreemptedError] // the last throw that a call returned
	told  atomic.Int32                          // how many times
}

// Call calls fn while the task gives its slot back. If a throw is due, Call returns it and does not
// call fn. If fn fails and a throw has arrived by then, Call returns the throw, which may be the
// reason for the failure.
func (c *Caller) Call(fn func() error) error {
	if p := c.Due(); p != nil {
		return p
	}
	return c.Blame(cocoon.BlockCall(c.Ctx, fn))
}

// CallBriefly is Call for calls that may wait but seldom do: the task keeps its slot until the
// runtime finds it waiting.
func (c *Caller) CallBriefly(fn func() error) error {
	call, err := c.Begin(inside.Writes)
	if err != nil {
		return err
	}
	return c.Blame(during(call, fn))
}

func during(call inside.Call, fn func() error) error {
	defer call.End()
	return fn()
}

// Begin begins a brief call of any kind. It returns the throw if one is due; otherwise the caller
// makes the call, ends it by its End, and passes its error to Blame.
func (c *Caller) Begin(what inside.Brief) (call inside.Call, err error) {
	if p := c.Due(); p != nil {
		return call, p
	}
	if call, err = inside.BeginBrief(c.Ctx, what); err != nil {
		return call, c.Blame(err)
	}
	return call, nil
}

// Due returns the throw that the next call must return, or nil. It is a safe point for a throw into
// a section, which it catches. While the task unwinds, calls are clean-up and are made normally.
func (c *Caller) Due() error {
	p := Thrown(c.Ctx)
	if p == nil {
		if !safepoint.Raised() {
			return nil
		}
		if p = poll(c.Ctx); p == nil {
			return nil
		}
	} else if goroutine.Unwinding() {
		return nil
	}
	return c.tell(p)
}

// Blame returns the throw in place of an error that the throw may have caused. io.EOF is not a
// failure.
func (c *Caller) Blame(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if p := Thrown(c.Ctx); p != nil && !goroutine.Unwinding() {
		return c.tell(p)
	}
	return err
}

// Told reports whether a call has returned the throw into the task.
func (c *Caller) Told(p *cocoon.PreemptedError) bool { return p != nil && c.throw.Load() == p }

// tell returns p, or throws it if the task has ignored it too often.
func (c *Caller) tell(p *cocoon.PreemptedError) error {
	if c.throw.Swap(p) != p {
		c.told.Store(0)
	}
	if c.told.Add(1) > inside.Patience {
		cocoon.SafePoint(c.Ctx)
	}
	return p
}

// poll is a safe point that returns the throw. The runtime throws it again at the next safe point,
// until the section that should catch it has ended.
func poll(ctx context.Context) (p *cocoon.PreemptedError) {
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if p, ok = r.(*cocoon.PreemptedError); !ok {
				panic(r)
			}
		}
	}()
	cocoon.SafePoint(ctx)
	return nil
}

// Thrown returns the throw that will end the task, or that has ended its context; nil if there is
// none. If the context has ended because the client has disconnected, or its time is up, Thrown
// returns nil, because the handler may still respond.
func Thrown(ctx context.Context) *cocoon.PreemptedError {
	if p := cocoon.Thrown(ctx); p != nil || ctx.Err() == nil {
		return p
	}
	return causeOf(ctx)
}

// causeOf is a separate function because its result is an allocation.
func causeOf(ctx context.Context) (p *cocoon.PreemptedError) {
	errors.As(context.Cause(ctx), &p)
	return p
}
