// Package inside is what package cocoon has for other packages of this module, and for nobody else.
// Package cocoon sets the functions when the program begins.
package inside

import "context"

// Call is a call under way. The goroutine that began it calls End when it has ended.
type Call interface{ End() }

// BeginBrief begins a call that may wait but seldom does, such as a write to a socket. It differs
// from cocoon.BlockCall in one thing: the task keeps its slot while other tasks wait for one, until
// the runtime finds its goroutine waiting. A Call of nil says that ctx leads to no task of this
// goroutine, or that the task is inside another Block. The error is that of cocoon.BlockCall where
// the call must not be made.
var BeginBrief func(ctx context.Context) (Call, error)

// OnThrow has fn called, on a goroutine of its own, when a throw into the task of ctx has ended the
// task's context. It is context.AfterFunc without the contexts, which most tasks never need. fn may
// also be called when the context ends for another reason. stop is as that of context.AfterFunc.
var OnThrow func(ctx context.Context, fn func()) (stop func() bool)
