package cocoon

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// awaitedNames records which names of labels, label values and events the policies of the process
// refer to, and whether any task or event has had them. A label belongs to no runtime. Names that
// no policy refers to are not stored, because clients choose them.
type awaitedNames struct {
	mu   sync.Mutex
	of   map[*Runtime][]ir.Mention
	last uint32                     // the last number
	now  atomic.Pointer[awaitedNow] // nil: no names
}

// awaitedNow grows until a policy that refers to names is withdrawn, and is then replaced.
type awaitedNow struct {
	number atomic.Uint32 // the version number; set after what it stands for
	labels growing[stubs.NameID, *awaitedName]
	events *awaitedName
}

// awaitedName is a label, or the set of events, with the values and the patterns that policies
// refer to.
type awaitedName struct {
	met      atomic.Bool
	values   growing[stubs.NameID, *atomic.Bool]
	patterns awaitedPatterns
}

var awaited = awaitedNames{of: map[*Runtime][]ir.Mention{}}

func (a *awaitedName) meets(value stubs.NameID, text string) {
	set(&a.met, true)
	if met, ok := a.values.get(value); ok {
		set(met, true)
	}
	a.patterns.meets(text)
}

// set sets a flag that many goroutines set often, and writes to memory only when the flag changes.
func set(b *atomic.Bool, to bool) {
	if b.Load() != to {
		b.Store(to)
	}
}

// note records that a task has the labels of the list. It stops at an attribute that was noted
// before, because everything behind it was noted too: for a list shared by many tasks, each task
// pays only for the first attribute.
func (a *attrs) note() {
	now := awaited.now.Load()
	if now == nil {
		return
	}
	number := now.number.Load() // before the names
	for ; a != nil && atomic.LoadUint32(&a.noted) != number; a = a.next {
		atomic.StoreUint32(&a.noted, number)
		if a.what == labelAttr && a.number != 0 {
			if label, ok := now.labels.get(a.label); ok {
				label.meets(stubs.NameID(a.number), a.text)
			}
		}
	}
}

// noteEvent records that an event of the name occurred.
func noteEvent(name stubs.NameID, text string) {
	if now := awaited.now.Load(); now != nil {
		now.events.meets(name, text)
	}
}

// of returns the entry that records whether the name of the mention was met: a label, a label's
// value, or an event. It returns nil for other mentions.
func (now *awaitedNow) of(m ir.Mention) *awaitedName {
	switch m.Read.Stub {
	case stubs.TaskLabels, stubs.ArrivingLabels:
		label, _ := now.labels.get(stubs.Intern(m.Read.Key))
		return label
	case stubs.EventName:
		return now.events
	}
	return nil
}

// has reports whether the name of the mention was met since policies refer to it.
func (a *awaitedNames) has(m ir.Mention) bool {
	now := a.now.Load()
	if now == nil {
		return false
	}
	e := now.of(m)
	switch {
	case e == nil:
		return false
	case m.Read.Pattern != "":
		return e.patterns.met(m.Read.Pattern)
	case m.Name == "":
		return e.met.Load()
	}
	met, ok := e.values.get(stubs.Intern(m.Name))
	return ok && met.Load()
}

// replace replaces the names to which the policies of a runtime refer.
func (a *awaitedNames) replace(rt *Runtime, names []ir.Mention) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(names) == 0 && len(a.of[rt]) == 0 {
		return
	}
	if a.of[rt] = names; len(names) == 0 {
		delete(a.of, rt)
	}
	if len(a.of) == 0 {
		a.now.Store(nil)
		return
	}
	now := &awaitedNow{events: new(awaitedName)}
	for _, names := range a.of {
		now.add(names, a.has)
	}
	a.last++
	now.number.Store(a.last)
	a.now.Store(now)
}

// extend adds names to which the policies of a runtime refer. Its cost does not depend on the
// number of names that were there before, but for a logarithm.
func (a *awaitedNames) extend(rt *Runtime, names []ir.Mention) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(names) == 0 {
		return
	}
	a.of[rt] = append(a.of[rt], names...)
	now := a.now.Load()
	if now == nil {
		now = &awaitedNow{events: new(awaitedName)}
	}
	now.add(names, a.has)
	a.last++
	now.number.Store(a.last) // what was noted before is noted again
	a.now.Store(now)
}

// add adds names that are not there yet. met reports whether a name was met before.
func (now *awaitedNow) add(names []ir.Mention, met func(ir.Mention) bool) {
	labels := map[stubs.NameID]*awaitedName{}
	values := map[*awaitedName]map[stubs.NameID]*atomic.Bool{}
	patterns := map[*awaitedName]map[string]*awaitedPattern{}
	for _, m := range names {
		e := now.of(m)
		if label := stubs.Intern(m.Read.Key); e == nil {
			if e = labels[label]; e == nil {
				e = new(awaitedName)
				labels[label] = e
			}
		}
		if met(ir.Mention{Read: m.Read.Name()}) {
			e.met.Store(true)
		}
		switch {
		case m.Read.Pattern != "":
			if _, known := e.patterns.get(m.Read.Pattern); !known {
				put(patterns, e, m.Read.Pattern, newAwaitedPattern(m.Read.Pattern, met(m)))
			}
		case m.Name != "":
			if _, known := e.values.get(stubs.Intern(m.Name)); !known {
				b := new(atomic.Bool)
				b.Store(met(m))
				put(values, e, stubs.Intern(m.Name), b)
			}
		}
	}
	now.labels.extend(labels)
	for e, more := range values {
		e.values.extend(more)
	}
	for e, more := range patterns {
		e.patterns.extend(more)
	}
}

// awaits returns the labels read by the policy, and the values, events and patterns of them in its
// expression.
func (v *version) awaits() []ir.Mention {
	v.speaksOf.Do(v.lookAtNames)
	return v.labels
}

// refersToNames reports whether the names to await depend on the policy: it refers to some, or
// reads or writes keys of states.
func (v *version) refersToNames() bool { return len(v.awaits()) > 0 || len(v.member().KeyUses()) > 0 }

// tenantNames returns the tenants that the policy's expression names.
func (v *version) tenantNames() (names []string) {
	for _, m := range v.mentions() {
		if m.Read.Stub == stubs.TenantName {
			names = append(names, m.Name)
		}
	}
	return names
}

func (v *version) namesTenants() bool { return len(v.tenantNames()) > 0 }

// labels returns the labels by which the canaries in force choose tasks.
func (c *canaries) labels() (names []string) {
	if all := c.all.Load(); all != nil {
		for _, one := range *all {
			if label, ok := strings.CutPrefix(one.said.By, document.ByLabel); ok {
				names = append(names, label)
			}
		}
	}
	return names
}

// ofLabel returns the mention of a label.
func ofLabel(name string) ir.Mention {
	return ir.Mention{Read: ir.Read{Stub: stubs.TaskLabels, Key: name}.Name()}
}

// mentions returns the names that the policy's expression compares with something.
func (v *version) mentions() []ir.Mention {
	v.speaksOf.Do(v.lookAtNames)
	return v.names
}

func (v *version) lookAtNames() {
	v.names = v.verified.Program().Mentions()
	var names []ir.Mention
	if c := v.spec.On.Custom; c != "" {
		names = append(names, ir.Mention{Read: ir.Read{Stub: stubs.EventName}, Name: c})
	}
	for _, r := range v.verified.Program().Reads {
		if r.Stub == stubs.TaskLabels || r.Stub == stubs.ArrivingLabels {
			names = append(names, ir.Mention{Read: r.Name()})
		}
		if r.Pattern != "" && isAwaited(r) {
			names = append(names, ir.Mention{Read: r})
		}
	}
	for _, m := range v.names {
		if m.Listed {
			continue
		}
		if isAwaited(m.Read) {
			names = append(names, m)
		}
	}
	v.labels = names
}

// isAwaited reports whether the read is of a name that awaitedNames records.
func isAwaited(r ir.Read) bool {
	return r.Stub == stubs.TaskLabels || r.Stub == stubs.ArrivingLabels || r.Stub == stubs.EventName
}

// unmetAfter is how long tasks must arrive before names that have matched nothing are logged.
const unmetAfter = time.Minute

// listen schedules the logging of unmet names for some time after the first task, or after the
// first task since new names were declared.
func (rt *Runtime) listen(now int64) {
	if rt.speaks.Load() && rt.naming.classCount.Load() > 0 && rt.unmetAt.CompareAndSwap(0, now+int64(unmetAfter)) {
		rt.timer.WakeAt(now + int64(unmetAfter))
	}
}
