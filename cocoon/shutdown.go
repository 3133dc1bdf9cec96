package cocoon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// ShutdownError lists the paths of the tasks that did not end, in alphabetical order.
type ShutdownError struct{ Tasks []string }

func (e *ShutdownError) Error() string {
	return fmt.Sprintf("cocoon: shutdown: %d tasks did not end: %v", len(e.Tasks), e.Tasks)
}

// shutdownGrace is how long tasks have to unwind after the throw. It is a variable, because tests
// shorten it.
var shutdownGrace = time.Second

// Shutdown ends the runtime. From now on new tasks are refused with ErrShutdown. Shutdown waits
// until all tasks have ended. If ctx ends first, it throws into the remaining tasks, with
// ErrShutdown as the cause, and waits one more second for them to unwind. If tasks remain even
// then, it returns a *ShutdownError; they keep running, without policies, and the runtime's memory
// is released when the last of them ends. Later calls wait for the first.
func (rt *Runtime) Shutdown(ctx context.Context) error {
	rt.regMu.Lock()
	first := !rt.closing
	rt.closing = true
	rt.regMu.Unlock()
	if !first {
		if !rt.waitFor(ctx, rt.stopped, rt.isStopped) {
			return context.Cause(ctx)
		}
		return nil
	}
	for _, l := range *rt.loops.Load() {
		l.lockAll()
		l.closed = true
		l.unlock()
	}
	if !rt.drained(ctx) {
		tasks := rt.liveTasks()
		for _, t := range tasks {
			t.doom("shutdown", ErrShutdown) // all tasks, before one unwinds and wakes another
		}
		all := setOf(tasks)
		for _, t := range tasks {
			// The methods of contexts are application code: one that blocks must not delay the
			// rest.
			go t.cancel("shutdown", ErrShutdown, all)
		}
		grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
		defer cancel()
		rt.drained(grace)
	}
	return rt.stop()
}

// drained waits until no task is left, and reports false if ctx ends first. The loops are already
// closed.
func (rt *Runtime) drained(ctx context.Context) bool {
	return rt.waitFor(ctx, rt.empty, func() bool { return rt.tasks.Load() == 0 })
}

func (rt *Runtime) isStopped() bool {
	select {
	case <-rt.stopped:
		return true
	default:
		return false
	}
}

// waitFor waits until done reports true, and reports false if ctx ends first. The channel receives
// an element when done may have become true. It is from outside of any bubble, so the time of a
// bubble would stand still in a wait for it, and neither the deadline of ctx nor that for which a
// task sleeps would come. So waitFor asks again and again, in the bubble's time, while tasks are in
// bubbles: first after a millisecond, and then after a 64th of the time that it has waited.
func (rt *Runtime) waitFor(ctx context.Context, channel <-chan struct{}, done func() bool) bool {
	step := firstStep
	for !done() {
		told, again := channel, (<-chan time.Time)(nil)
		if notify.Bubbled() && rt.inBubbles() {
			told, again = nil, time.After(step)
			step = longer(step)
		}
		select {
		case <-ctx.Done():
			return false
		case <-told:
		case <-again:
		}
	}
	return true
}

// inBubbles reports whether a task runs in a bubble.
func (rt *Runtime) inBubbles() bool {
	for _, l := range *rt.loops.Load() {
		l.lock()
		for s := l.live; s != nil; s = s.next {
			if s.bubbled {
				l.unlock()
				return true
			}
		}
		l.unlock()
	}
	return false
}

func (rt *Runtime) liveTasks() (tasks []*Task) {
	for _, l := range *rt.loops.Load() {
		l.lock()
		for s := l.live; s != nil; s = s.next {
			tasks = append(tasks, s.task)
		}
		l.unlock()
	}
	return tasks
}

// stop ends the timer and the isolate, and forgets the runtime, unless tasks remain: their polls
// must find the runtime.
func (rt *Runtime) stop() error {
	defer close(rt.stopped)
	rt.cancel()
	rt.timer.Close()
	if rt.gaps != nil {
		rt.gaps.record.Close()
	}
	notify.Outside(rt.log.flush) // it waits in real time
	rt.decisions.end()
	rt.recorder.stop()
	rt.regMu.Lock()
	var all []*version
	for _, r := range rt.policies {
		all = append(all, r.now)
	}
	rt.replace(all, nil)
	rt.regMu.Unlock()
	err := rt.store.Close()
	rt.endHeat()
	// From now on the end of the last task forgets the runtime, so count the remaining tasks only
	// after this.
	rt.forgettable.Store(true)
	if left := rt.liveTasks(); len(left) > 0 {
		e := &ShutdownError{}
		for _, t := range left {
			e.Tasks = append(e.Tasks, t.Path())
		}
		slices.Sort(e.Tasks)
		return e
	}
	rt.forget()
	if err != nil {
		return fmt.Errorf("cocoon: shutdown: the isolate: %w", err)
	}
	return nil
}
