package cocoon

import (
	"errors"
	"sync/atomic"
)

// Refusals counts the tasks that never started, by the reason.
type Refusals struct {
	Policy     int64 // a policy refused the task
	Overloaded int64 // the queue was full: ErrOverloaded
	Shutdown   int64 // the runtime shut down: ErrShutdown
	Cancelled  int64 // the task was cancelled, or its context ended, before the task got a slot
}

// sum returns the number of tasks that never started.
func (r Refusals) sum() int64 { return r.Policy + r.Overloaded + r.Shutdown + r.Cancelled }

// refusals are the counters of Refusals.
type refusals struct{ policy, overloaded, shutdown, cancelled atomic.Int64 }

// count counts a task that never started, by its error. It calls no method of the error's cause,
// because the cause may be the application's: it compares identities.
func (r *refusals) count(err error) {
	why := errors.Unwrap(err) // see refusal
	if p, ok := err.(*PreemptedError); ok {
		if p.Policy != "" {
			r.policy.Add(1)
			return
		}
		why = p.Cause
	}
	switch why {
	case ErrOverloaded:
		r.overloaded.Add(1)
	case ErrShutdown:
		r.shutdown.Add(1)
	default:
		r.cancelled.Add(1)
	}
}

func (r *refusals) snapshot() Refusals {
	return Refusals{Policy: r.policy.Load(), Overloaded: r.overloaded.Load(), Shutdown: r.shutdown.Load(), Cancelled: r.cancelled.Load()}
}
