package cocoon

import "time"

// When a throw that has not reached its task ends the task's context. Code that waits for the
// context finds no safe point, so the context must end some time. But if it ends in the midst of a
// call of a database, the driver closes the connection, and nearly all such calls take less than
// callGrace. So a throw ends the context
//
//  1. callGrace after the beginning of the call, if the task has given up its slot for a call;
//  2. callGrace after the throw, if the task runs or waits in any other way;
//  3. callGrace later again, as long as the task waits for a slot or a P, because it will respond
//     when it gets one; but not later than lateGrace after the throw.
//
// The loop's timer keeps the time (endContexts). Cancel, the client and a deadline end the context
// at once.
const (
	callGrace = int64(5 * time.Millisecond)
	lateGrace = 20 * callGrace
)

// standing is how a task stands that a throw has not reached.
type standing uint8

const (
	runs     standing = iota // or waits unannounced
	calls                    // it has given up its slot for a call
	awaitsUs                 // it waits for a slot or a P
)

// endTime is when a throw ends the context. It is pure.
type endTime struct{ thrown, at int64 }

// newEndTime returns the time for a throw now into a task that has stood as it does since then.
func newEndTime(stands standing, since, now int64) endTime {
	if stands != calls {
		since = now
	}
	return endTime{now, max(now, min(since, now)+callGrace)}
}

// due reports whether the context ends now. It postpones the end for a task that waits for the
// runtime.
func (e *endTime) due(stands standing, now int64) bool {
	latest := e.thrown + lateGrace
	if now >= e.at && stands == awaitsUs && now < latest {
		e.at = min(now+callGrace, latest)
	}
	return now >= e.at
}
