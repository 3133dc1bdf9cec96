// Package tell has code hear of a throw by the errors of its calls. Code that writes to a client,
// or reads from one, holds locks and goroutines around that, and releases them without defer. So no
// such call unwinds it.
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

// Caller makes calls of a task that have errors. Any goroutine may use it; only that of the task is
// ever thrown into.
type Caller struct {
	Ctx context.Context // the task's

	throw atomic.Pointer[cocoon.PreemptedError] // what was told last
	told  atomic.Int32                          // how often
}

// patience is how often a handler is told of a throw before it is thrown into: it ignores errors.
// It is not once, for some code looks only at the last of several errors, and gives its lock back
// then.
const patience = 8

// Call calls fn while the task's slot is given to others. It returns a throw that is due, and does
// not call fn then; and a throw that came meanwhile, if fn failed, for that may be why.
func (c *Caller) Call(fn func() error) error {
	if p := c.Due(); p != nil {
		return p
	}
	return c.Blame(cocoon.BlockCall(c.Ctx, fn))
}

// CallBriefly is Call for what may wait but seldom does: the task keeps its slot until it is found
// waiting.
func (c *Caller) CallBriefly(fn func() error) error {
	if p := c.Due(); p != nil {
		return p
	}
	return c.Blame(c.briefly(fn))
}

func (c *Caller) briefly(fn func() error) error {
	call, err := inside.BeginBrief(c.Ctx)
	if err != nil {
		return err
	}
	if call != nil {
		defer call.End()
	}
	return fn()
}

// Due returns the throw that the next call is to return, or nil. It is the safe point of a section,
// which it catches. While the task unwinds, calls are clean-up, and are made as ever.
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

// Blame returns the throw in place of an error which it may be the reason for. The end of what is
// read is no failure.
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

// tell returns p, or throws it where the task has gone on regardless.
func (c *Caller) tell(p *cocoon.PreemptedError) error {
	if c.throw.Swap(p) != p {
		c.told.Store(0)
	}
	if c.told.Add(1) > patience {
		cocoon.SafePoint(c.Ctx)
	}
	return p
}

// poll is a safe point that returns the throw. The runtime throws it again at the next one, until
// the section that is to catch it has ended.
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

// Thrown returns the throw that is to end the task, or because of which its context has ended; nil
// if there is none. Where the client has gone, or time is up, the handler may still have something
// to say.
func Thrown(ctx context.Context) *cocoon.PreemptedError {
	if p := cocoon.Thrown(ctx); p != nil || ctx.Err() == nil {
		return p
	}
	return causeOf(ctx)
}

// causeOf is a function of its own because its result is an allocation.
func causeOf(ctx context.Context) (p *cocoon.PreemptedError) {
	errors.As(context.Cause(ctx), &p)
	return p
}
