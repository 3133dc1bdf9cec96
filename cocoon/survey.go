package cocoon

import (
	"math/rand/v2"

	"github.com/cocoon-go/cocoon/internal/kernel"
)

// Surveys. A goroutine does not record when it begins to wait. So nothing tells how long a task has
// run that waits unannounced in between: the look that lends its slot comes some time after the
// wait has begun, and when the task wakes it runs on without a slot, up to its next safe point.
//
// A survey is a look at all tasks at a random moment. A task that runs during k of n surveys has
// run for about k/n of the time, however short its pieces are. So surveys bound the running time of
// a task with a slot if its waits are not known exactly, and add the time that it runs without a
// slot. They are made only while a task that needs them has used a part of a limit. Other looks
// can't serve as samples: tasks that ask for slots look at the holders, at moments that depend on
// what the holders do.

// survey is a series of surveys of a loop's tasks. Guarded by the loop's lock.
type survey struct {
	at    int64 // when the next survey is due; 0: there is no series
	began int64 // when the series began
	last  int64 // when the last survey was
	used  int64 // the process's processor time then
	every int64 // the mean time between two surveys
	asked int64 // when a task last needed the series

	crowded        bool // at the last survey, more goroutines wanted a P than there are Ps
	ready, running int  // how many tasks the latest surveys found ready, and running
}

// surveyed is what a series says about a task. Guarded by the loop's lock.
type surveyed struct {
	series  int64 // survey.began
	arrived int64 // the task's arrival: the strand's memory outlives the task
	ran     int64 // the task's running time
}

// covers reports whether of is about this series and the task that arrived then. It may be nil.
func (v *survey) covers(of *surveyed, arrived int64) bool {
	return v.at != 0 && of != nil && of.series == v.began && of.arrived == arrived
}

// ask begins a series, or prolongs it, with a survey every so many ns at most.
func (v *survey) ask(every, now int64) (began bool) {
	if v.asked = now; v.at != 0 {
		v.every = min(v.every, every)
		return false
	}
	*v = survey{began: now, last: now, used: kernel.ProcessCPU(), every: every, asked: now}
	v.schedule()
	return true
}

func (v *survey) schedule() { v.at = v.last + v.every/2 + rand.Int64N(v.every) }
