package inside

import (
	"context"
	"time"
)

// Witness makes a *cocoon.Runtime tell what happens to its tasks, until stop. The contexts are the
// tasks' own, or, for a refused task, the context that Run got. tell is called without a lock.
// Except for Stalled, it is called on the task's own goroutine, while the task waits for tell to
// return. Panics of tell are caught and logged. Witness returns an error if the runtime has a
// witness already.
var Witness func(runtime any, tell func(ctx context.Context, e Event)) (stop func(), err error)

// Happening is what happened to a task.
type Happening int

const (
	Waited    Happening = iota // the task has its first slot, and waited for it
	Refused                    // the task never started
	Suspended                  // the task was switched out, and runs again
	Stalled                    // the task passes no safe point, and its slot was lent
	Thrown                     // a throw has reached the task
)

// Event is one happening.
type Event struct {
	Happening
	Loop string
	Ago  time.Duration // since it began
	Err  error         // of Refused and Thrown
}
