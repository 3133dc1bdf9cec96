package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/stubs"
)

// valueless is the panic of a switch that gives values of stubs and lacks one.
const valueless = "cocoon: a stub has no value; see TestEveryStateStub"

// view is the world as an evaluation sees it: a loop, the task in question, the arriving task, the
// event. Each loop has one, used under its lock.
type view struct {
	task     *strand
	arriving *strand
	event    stubs.NameID
	text     string // of the event's name
	value    float64

	wall   time.Time // the time of day
	wallOf int64     // when it was read

	haveSections bool
	open         []seenSection
	buf          [stubs.MaxStack]seenSection
}

// about sets the tasks in question. Either may be nil.
func (v *view) about(task, arriving *strand) {
	v.task, v.arriving = task, arriving
	v.haveSections = false
}

// subject returns the task to name in a log line.
func (v *view) subject() *strand {
	if v.arriving != nil {
		return v.arriving
	}
	return v.task
}

// sections returns the task's open sections. They are read once per evaluation.
func (v *view) sections() []seenSection {
	if !v.haveSections {
		v.open = v.task.sections.read(&v.buf)
		v.haveSections = true
	}
	return v.open
}

// section returns the name of the task's innermost open section, or "".
func (v *view) section() string {
	if v.task == nil {
		return ""
	}
	if open := v.sections(); len(open) > 0 {
		return open[len(open)-1].name.text
	}
	return ""
}
