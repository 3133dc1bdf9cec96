package cocoon

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
)

// Marks identify tasks in a profile of all goroutines, which contains the functions that were
// called, but neither arguments nor goroutine ids. A strand has a number, and calls its task's
// function through one of sixteen functions, chosen by the lowest digit of the number. Nearly
// always this suffices to tell the task from the few other running tasks. Where gaps are measured,
// the call goes through one function for each digit.
//
// Goroutine labels would do the same. But setting them costs each task 50 ns or more, and
// overwrites labels that the program has set: package pprof offers no way to read them. Programs
// choose that with Config.ProfileLabels.

// markDigits is how many digits of a strand's number are marked where gaps are measured: they
// distinguish 65,536 strands.
const markDigits = 4

var strandNumbers atomic.Uint32

// taskMarkAll calls fn through the marks for that many digits of n, the lowest first.
func taskMarkAll(n uint32, digits int, ctx context.Context, fn taskFunc) error {
	if digits == 0 {
		return fn(ctx)
	}
	return taskMarks[n%16](ctx, func(ctx context.Context) error { return taskMarkAll(n/16, digits-1, ctx, fn) })
}

// markOf maps the entry address of each mark to its digit.
var markOf = sync.OnceValue(func() map[uintptr]uint32 {
	digits := map[uintptr]uint32{}
	for i, f := range taskMarks {
		digits[reflect.ValueOf(f).Pointer()] = uint32(i)
	}
	return digits
})

// marked is what the marks on a stack reveal of the strand: some digits of its number.
type marked struct {
	number uint32
	digits int
}

// is reports whether the marks fit s.
func (m marked) is(s *strand) bool {
	return m.digits > 0 && (s.number^m.number)&(1<<(4*m.digits)-1) == 0
}

// The marks are called by address, so they are not inlined, and each has its own address.
var taskMarks = [16]func(context.Context, taskFunc) error{
	taskMark0, taskMark1, taskMark2, taskMark3, taskMark4, taskMark5, taskMark6, taskMark7,
	taskMark8, taskMark9, taskMarkA, taskMarkB, taskMarkC, taskMarkD, taskMarkE, taskMarkF,
}

func taskMark0(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMark1(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMark2(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMark3(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMark4(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMark5(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMark6(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMark7(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMark8(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMark9(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMarkA(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMarkB(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMarkC(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMarkD(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMarkE(ctx context.Context, fn taskFunc) error { return fn(ctx) }
func taskMarkF(ctx context.Context, fn taskFunc) error { return fn(ctx) }
