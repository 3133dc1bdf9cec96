package cocoon

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// textRead replaces a stub when a read matches a name with a pattern or computes a value from its
// text, so that other reads need not check for this.
const textRead = stubs.Draw + 1

// newRead is called with regMu held.
func (b *bound) newRead(r ir.Read) read {
	x := read{stub: r.Stub, offset: r.Offset, words: r.Words, key: stubs.Intern(r.Key), quantile: r.Quantile, window: int64(r.Window)}
	if r.Pattern != "" {
		x.selector = b.loop.rt.ofPattern(r.Pattern)
		b.refers = append(b.refers, x.selector)
	}
	if r.OfClock() {
		x.zone, _ = b.version.spec.Location() // Validate has checked it
	}
	if r.Taken != ir.TakenWhole || r.Pattern != "" && r.Stub != stubs.TaskSections {
		x.stub, x.of, x.taken = textRead, r.Stub, &r
	}
	return x
}

// ofText returns the value read of a name with that text.
func (r *read) ofText(text string) uint64 {
	if r.selector != nil {
		return stubs.FromBool(r.selector.selects(text))
	}
	return r.taken.Take(text)
}

// taken returns the value of a textRead. Labels and events, which a client may choose anew each
// time, are evaluated at each read, in time proportional to their length.
func (v *view) taken(l *Loop, r *read) uint64 {
	if r.selector != nil {
		return stubs.FromBool(v.selected(l, r))
	}
	return r.taken.Take(v.textOf(r.of, r.key, l))
}

// matches reports whether a section has the name that the read is about.
func (r *read) matches(section *named, rt *Runtime) bool {
	if r.selector != nil {
		return section.in(r.selector, rt)
	}
	return section.id == r.key
}

// selected reports whether the name matches the pattern of the read. The names of tasks, sections
// and tenants have been matched before. Labels and events, which a client may choose anew each
// time, are matched here, in time proportional to their length.
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
