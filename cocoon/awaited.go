package cocoon

import (
	"slices"
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

// awaitedNow is immutable, except for its met flags.
type awaitedNow struct {
	number uint32 // the version number
	labels map[stubs.NameID]*awaitedName
	events *awaitedName
}

// awaitedName is a label, or the set of events, with the values and the patterns that policies refer
// to.
type awaitedName struct {
	met      atomic.Bool
	values   map[stubs.NameID]*atomic.Bool
	patterns awaitedPatterns
}

var awaited = awaitedNames{of: map[*Runtime][]ir.Mention{}}

func (a *awaitedName) meets(value stubs.NameID, text string) {
	set(&a.met, true)
	if len(a.values) > 0 {
		if met := a.values[value]; met != nil {
			set(met, true)
		}
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
	for ; a != nil && atomic.LoadUint32(&a.noted) != now.number; a = a.next {
		atomic.StoreUint32(&a.noted, now.number)
		if a.what == labelAttr && a.number != 0 {
			if label := now.labels[a.label]; label != nil {
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
		return now.labels[stubs.Intern(m.Read.Key)]
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
	met := e.values[stubs.Intern(m.Name)]
	return met != nil && met.Load()
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
	a.last++
	now := &awaitedNow{number: a.last, labels: map[stubs.NameID]*awaitedName{}, events: new(awaitedName)}
	for _, names := range a.of {
		for _, m := range names {
			now.add(m, a.has(m), a.has(ir.Mention{Read: m.Read.Name()}))
		}
	}
	a.now.Store(now)
}

// add adds a name, and whether it and its label were met before.
func (now *awaitedNow) add(m ir.Mention, met, labelMet bool) {
	e := now.of(m)
	if e == nil {
		e = new(awaitedName)
		now.labels[stubs.Intern(m.Read.Key)] = e
	}
	if labelMet {
		e.met.Store(true)
	}
	if m.Read.Pattern != "" {
		if e.patterns == nil {
			e.patterns = awaitedPatterns{}
		}
		e.patterns[m.Read.Pattern] = newAwaitedPattern(m.Read.Pattern, met)
		return
	}
	if m.Name == "" {
		return
	}
	if e.values == nil {
		e.values = map[stubs.NameID]*atomic.Bool{}
	}
	b := new(atomic.Bool)
	b.Store(met)
	e.values[stubs.Intern(m.Name)] = b
}

// awaits returns the labels read by the policy, and the values, events and patterns of them in its
// expression.
func (v *version) awaits() []ir.Mention {
	v.speaksOf.Do(v.lookAtNames)
	return v.labels
}

// refersToNames reports whether the names to await depend on the policy: it refers to some, or reads
// or writes keys of states.
func (v *version) refersToNames() bool {
	p := v.verified.Program()
	return len(v.awaits()) > 0 ||
		slices.ContainsFunc(p.Reads, func(r ir.Read) bool { return r.By != nil }) ||
		slices.ContainsFunc(p.Sites, func(s ir.Site) bool { return s.By != nil })
}

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
