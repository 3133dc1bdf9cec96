package cocoon

import (
	"math"

	"github.com/cocoon-go/cocoon/stubs"
)

// fill writes the snapshot that a policy reads, except for the states.
func (v *view) fill(l *Loop, reads []read, words []uint64, now int64) {
	for i := range reads {
		r := &reads[i]
		switch {
		case r.stub == stubs.TaskStack:
			v.fillStack(words[r.offset : r.offset+r.words])
		case r.stub <= stubs.TaskSlice:
			words[r.offset] = v.ofTask(r, now)
		case r.stub <= stubs.ArrivingLabels:
			words[r.offset] = v.ofArriving(r, now)
		case r.stub <= stubs.TenantThrown:
			words[r.offset] = v.ofTenant(r.stub, now)
		case r.stub <= stubs.ClassService:
			words[r.offset] = v.ofClass(r, now)
		case r.stub <= stubs.LoopUtilization:
			words[r.offset] = l.ofLoop(r, now)
		case r.stub <= stubs.RuntimeUptime:
			words[r.offset] = l.rt.ofRuntime(r.stub, now)
		case r.stub <= stubs.ClockWeekday:
			words[r.offset] = v.ofClock(l, r, now)
		case r.stub == stubs.EventName:
			words[r.offset] = uint64(v.event)
		case r.stub == stubs.EventValue:
			words[r.offset] = math.Float64bits(v.value)
		default: // textRead
			words[r.offset] = v.taken(l, r)
		}
	}
}

func (v *view) fillStack(words []uint64) {
	words[0] = 0
	if v.task == nil {
		return
	}
	open := v.sections()
	words[0] = uint64(len(open))
	for i, o := range open {
		words[1+i] = uint64(o.name.id)
	}
}
