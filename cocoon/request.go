package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/safepoint"
)

// Requests to a running task. All are posted and taken under the loop's lock:
//
//  1. The code that decides (a policy, Cancel, the timer) locks the loop, checks strand.task, and
//     posts the request: it sets the bit, and raises the process-wide word if the task runs.
//  2. The task's next poll sees the word, finds its strand by its goroutine, locks the loop, takes
//     the bits, lowers the word, and handles the requests.
//  3. A task that leaves its slot lowers the word. The bits stay, and the task handles them when it
//     has a slot again.
//  4. If the task does not respond at once, the timer lowers the word, and raises it again after a
//     pause, so that the polls of other tasks stay cheap.
//  5. The bit of a throw stays until the throw has arrived at its boundary: if a recover swallows
//     it, it is thrown again.
const (
	wantThrow uint32 = 1 << iota
	wantSwitch
	wantProbe // only to check whether the task passes safe points
	wantGap   // only to measure how long it does not
)

// raisedFor is how long the word stays raised for a task that does not respond. Then the word is
// lowered, so that the polls of other tasks are cheap again, and raised after a pause that doubles
// from minPause to maxPause. raisedFor is longer than a tick of most kernels, because a task
// responds that late if its core was taken. If the word were lowered earlier, the task would have
// to wait for its next time slice. For the same reason the first pauses are short: a task that
// shares its core with two busy processes comes back while the word is lowered, and a pause of 5 ms
// then makes a throw 12 ms late instead of 7.
const raisedFor = int64(5 * time.Millisecond)

// flight is how long the word stays raised for a throw in flight. The throw reaches its boundary in
// microseconds, unless the kernel takes the core. If code recovers the throw, the next safe point
// should throw it again, and not a later one.
const flight = int64(100 * time.Millisecond)

// patienceOfPolls is for how many times raisedFor the word stays raised after a masked poll: the
// task does respond, and may have lost its core for longer than raisedFor. Under a lock it may have
// one unmasked poll in many milliseconds, which must find the word raised.
const patienceOfPolls = 20

// respondsFrom returns from when on the task can handle its requests. A task that runs undisturbed
// for a while does not switch before that time is over. Without another request, the word is not
// raised for it until then. Called under the loop's lock.
func (s *strand) respondsFrom() int64 {
	if s.requests.Load() == wantSwitch {
		return s.core.Immune()
	}
	return 0
}

// onSlot reports whether the task has a slot, its own or one that was lent to it. Called under the
// loop's lock.
func (s *strand) onSlot() bool {
	st := s.core.State()
	return st == sched.Running || st == sched.Lent
}

// raise raises the word for s. Called under the loop's lock.
func (s *strand) raise(now int64) {
	s.raised, s.raisedAt = true, now
	s.met.Store(0)
	safepoint.Raise()
	s.breath.divert()
	s.lookForP()
}

// lower lowers the word if it is raised for s. Called under the loop's lock.
func (s *strand) lower() {
	if s.raised {
		s.raised = false
		safepoint.Lower()
	}
	s.setLacksP(false)
}

// lookForP looks whether s, for which the word is raised, waits for a P. It looks when the word is
// raised, and the timer repeats it. The timer alone is not enough: with one P it waits for the P
// too. Called under the loop's lock.
func (s *strand) lookForP() {
	st := s.status()
	s.setLacksP(st == goroutine.Runnable || st == goroutine.Ready)
}

// setLacksP records whether s has a request and waits for a P. While there is such a task, other
// tasks give up their Ps at their safe points (see keepsP), and the word stays raised, because s
// cannot have passed a safe point. Called under the loop's lock.
func (s *strand) setLacksP(lacks bool) {
	if s.lacksP == lacks {
		return
	}
	if s.lacksP = lacks; lacks {
		s.loop.rt.lackP.Add(1)
	} else {
		s.loop.rt.lackP.Add(-1)
	}
}

// unpost withdraws requests. Called under the loop's lock.
func (s *strand) unpost(want uint32) {
	left := s.requests.Load() &^ want
	s.requests.Store(left)
	if left == 0 {
		s.lower()
	}
}
