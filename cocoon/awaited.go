package cocoon

import (
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// awaitedNames are names of labels, their values and events, of which policies of the process speak, and whether something has
// had them. A label belongs to no runtime, and of names that no policy speaks of nothing is kept: clients choose them.
type awaitedNames struct {
	mu   sync.Mutex
	of   map[*Runtime][]awaitedName
	last uint32                     // number
	now  atomic.Pointer[awaitedNow] // nil: there are none
}

type awaitedNow struct {
	number uint32 // of those that there have been
	met    map[awaitedName]*atomic.Bool
}

type awaitedName struct {
	what byte
	name stubs.NameID
}

const (
	labelName = iota
	labelValue
	eventName
)

var awaited = awaitedNames{of: map[*Runtime][]awaitedName{}}

func (a *awaitedNow) note(what byte, name stubs.NameID) {
	if b := a.met[awaitedName{what, name}]; b != nil && !b.Load() {
		b.Store(true)
	}
}

// note has it noted that a task has the labels of the list. What comes behind an attribute that was looked at was looked at, too:
// lists that many tasks have cost each of them a look at the first.
func (a *attrs) note() {
	now := awaited.now.Load()
	if now == nil {
		return
	}
	for ; a != nil && atomic.LoadUint32(&a.noted) != now.number; a = a.next {
		atomic.StoreUint32(&a.noted, now.number)
		if a.what == labelAttr && a.number != 0 {
			now.note(labelName, a.label)
			now.note(labelValue, stubs.NameID(a.number))
		}
	}
}

// has reports whether something has had a name since policies speak of it.
func (a *awaitedNames) has(what byte, name string) bool {
	now := a.now.Load()
	if now == nil {
		return false
	}
	b := now.met[awaitedName{what, stubs.Intern(name)}]
	return b != nil && b.Load()
}

// replace replaces the names of which policies of a runtime speak.
func (a *awaitedNames) replace(rt *Runtime, names []awaitedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(names) == 0 && len(a.of[rt]) == 0 {
		return
	}
	if a.of[rt] = names; len(names) == 0 {
		delete(a.of, rt)
	}
	was := a.now.Load()
	if was == nil {
		was = &awaitedNow{number: a.last}
	}
	a.last = was.number + 1
	now := &awaitedNow{number: a.last, met: map[awaitedName]*atomic.Bool{}}
	for _, names := range a.of {
		for _, n := range names {
			if now.met[n] = was.met[n]; now.met[n] == nil {
				now.met[n] = new(atomic.Bool)
			}
		}
	}
	if a.now.Store(now); len(a.of) == 0 {
		a.now.Store(nil)
	}
}

// await has those noted who have names of which policies speak. Called with regMu held, when other policies are in force.
func (rt *Runtime) await() {
	var names []awaitedName
	for _, r := range rt.policies {
		v := r.now
		if c := v.spec.On.Custom; c != "" {
			names = append(names, awaitedName{eventName, stubs.Intern(c)})
		}
		p := v.verified.Program()
		for _, r := range p.Reads {
			if r.Stub == stubs.TaskLabels || r.Stub == stubs.ArrivingLabels {
				names = append(names, awaitedName{labelName, stubs.Intern(r.Key)})
			}
		}
		for _, m := range p.Mentions() {
			switch m.Read.Stub {
			case stubs.TaskLabels, stubs.ArrivingLabels:
				names = append(names, awaitedName{labelValue, stubs.Intern(m.Name)})
			case stubs.EventName:
				names = append(names, awaitedName{eventName, stubs.Intern(m.Name)})
			}
		}
	}
	awaited.replace(rt, names)
	if len(rt.policies) > 0 {
		rt.speaks.Store(true)
		rt.listen(notify.Now())
	}
}
