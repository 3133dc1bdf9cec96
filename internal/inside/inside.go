// Package inside holds what package cocoon offers to other packages of this module only. Package
// cocoon sets the variables when it is initialized.
package inside

import (
	"context"
	"sync/atomic"
)

// Call is a brief call in progress. The goroutine that began the call ends it. The zero Call is
// none. Package cocoon sets the fields.
type Call struct {
	Task   interface{ EndCall(Call) }
	Rested int64 // how long the task had rested before
	Leaves uint8 // goroutine.Leaves at its beginning
	Known  bool  // Leaves tells whether the goroutine has waited
}

// End ends the call.
func (c Call) End() {
	if c.Task != nil {
		c.Task.EndCall(c)
	}
}

// Brief is a kind of brief call.
type Brief int32

const (
	None     Brief = iota // gives the slot up as soon as another task needs it, like a Block
	Writes                // to a client or a file, or reads from it, maybe by system calls
	Sends                 // hands a message to another goroutine, which writes it
	Receives              // takes a message that another goroutine has probably read by now
	Works                 // runs code of the program, which may compute or wait
)

// BeginBrief begins a call that may wait but seldom does, such as a write to a socket. It differs
// from cocoon.BlockCall in one way: while other tasks wait for a slot, the task keeps its slot
// until the runtime finds the goroutine waiting. The Call is zero if ctx leads to no task of this
// goroutine, or if the task is inside another Block. If the call must not be made, BeginBrief
// returns the error that cocoon.BlockCall would return.
var BeginBrief func(ctx context.Context, what Brief) (Call, error)

// CallOrThrow is cocoon.BlockCall for calls of code that knows of throws. If a throw is pending
// that would end ctx, CallOrThrow returns it and does not call fn. It does not end the context, as
// BlockCall does: package database/sql would close the connection of the task's transaction.
var CallOrThrow func(ctx context.Context, fn func() error) error

// CallToEnd is CallOrThrow for parts of a call that has begun, such as reads of a response. If it is
// certain that a pending throw will end ctx, CallToEnd calls fn until then: most calls are complete
// by that time, and then cost no connection, and what the response says is not lost. So a policy
// that throws on the event block stops the task after the response, too.
var CallToEnd func(ctx context.Context, fn func() error) error

// CallAnyway is cocoon.BlockCall for calls that return something, such as a rollback. It always
// calls fn, and never ends the context.
var CallAnyway func(ctx context.Context, fn func() error) error

// Patience is how many times calls return a throw to code that ignores errors, before a call unwinds
// the code. Once would not do, because some code looks only at the last of several errors, and
// releases its lock then.
const Patience = 8

// Insist returns err, the error of a call. If err is the pending throw into the task of ctx, and
// calls have returned it more than Patience times, Insist is a safe point instead: a loop that
// ignores errors would go on forever. It is called where a throw may unwind the call.
var Insist func(ctx context.Context, err error) error

// Abort is the panic with which a handler of cocoonhttp gives its response up, as proxies do when a
// read or a write returns a throw. Package cocoonhttp sets it; it is nil in other programs. The
// runtime does not report it as a panic into which code has turned the throw.
var Abort error

// Inserts reports whether the program has opened a section that cocoon build inserted. As long as
// it has not, Wrote need not be called.
var Inserts atomic.Bool

// Wrote records that the task of ctx, on its own goroutine, writes to its response.
var Wrote func(ctx context.Context)

// CutShort returns a throw that cut the task's writing short inside a section that cocoon build
// inserted, or nil. The code there has got the throw as an ordinary error.
var CutShort func(ctx context.Context) error

// Inserted reports whether the task of ctx, on its own goroutine, is inside such a section.
var Inserted func(ctx context.Context) bool

// Returned returns the pending throw into the task of ctx, or into a section of it, if a call has
// returned this throw as its error, and ctx may end with the task. Otherwise it returns nil.
var Returned func(ctx context.Context) error

// OnThrow calls fn on a separate goroutine when a throw into the task of ctx has ended the task's
// context. It is a context.AfterFunc that makes no contexts, because most tasks never need one. For
// some contexts OnThrow uses context.AfterFunc, so fn may also be called when the context ends for
// another reason. stop works as with context.AfterFunc.
var OnThrow func(ctx context.Context, fn func()) (stop func() bool)

// Here reports whether the calling goroutine runs the task of ctx.
var Here func(ctx context.Context) bool

// Happen raises a custom event about the task of ctx, on its own goroutine: policies on the event
// are evaluated for this task only, or once if they refer to no task.
var Happen func(ctx context.Context, name string, value float64)

// Asked reports whether the runtime asks something of the task of ctx, on its own goroutine, so
// that a safe point may suspend the task or throw into it.
var Asked func(ctx context.Context) bool

// Unwinding returns the throw that unwinds the task of ctx, on its own goroutine, if the caller
// runs in a deferred call at that time; otherwise nil.
var Unwinding func(ctx context.Context) error
