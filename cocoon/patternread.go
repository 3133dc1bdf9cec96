package cocoon

import (
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// patternRead stands in place of a stub where a name is compared with a pattern, so that other
// reads need not look for one.
const patternRead = stubs.StateAverage + 1

// newRead is called with regMu held.
func (b *bound) newRead(r policy.Read) read {
	x := read{stub: r.Stub, offset: r.Offset, words: r.Words, key: stubs.Intern(r.Key), quantile: r.Quantile, window: int64(r.Window)}
	if r.Pattern != "" {
		x.selector = b.loop.rt.ofPattern(r.Pattern)
		b.refers = append(b.refers, x.selector)
	}
	if r.Pattern != "" && r.Stub != stubs.TaskSections {
		x.stub, x.of = patternRead, r.Stub
	}
	return x
}

// matches reports whether a section has the name that is read of.
func (r *read) matches(section *named, rt *Runtime) bool {
	if r.selector != nil {
		return section.in(r.selector, rt)
	}
	return section.id == r.key
}

// selected reports whether the name that is read matches the pattern. That of a task, a section or
// a tenant was looked at before; those that a client may choose anew each time, labels and events,
// are looked at here, in time that is in proportion to their length.
func (v *view) selected(l *Loop, r *read) bool {
	switch sel, rt := r.selector, l.rt; r.of {
	case stubs.TaskName:
		return v.task != nil && v.task.task.class.in(sel, rt) || v.task == nil && sel.selects("")
	case stubs.ArrivingName:
		return v.arriving.task.class.in(sel, rt)
	case stubs.TaskSection:
		if v.task != nil {
			if open := v.sections(); len(open) > 0 {
				return open[len(open)-1].name.in(sel, rt)
			}
		}
		return sel.selects("")
	case stubs.TaskLabels:
		return sel.selects(v.task.label(r.key))
	case stubs.ArrivingLabels:
		return sel.selects(v.arriving.label(r.key))
	case stubs.TenantName:
		if s := v.subject(); s != nil && s.tenant != nil {
			return s.tenant.in(sel, rt)
		}
		return sel.selects("")
	case stubs.LoopName:
		return sel.selects(l.cfg.Name)
	default: // stubs.EventName
		return sel.selects(v.text)
	}
}

// label returns the value of a label of the task, which may be nil; "" when it is not set.
func (s *strand) label(name stubs.NameID) string {
	if s != nil {
		if set := s.task.attrs.labelled(name); set != nil {
			return set.text
		}
	}
	return ""
}
