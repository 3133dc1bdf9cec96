package cocoon

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// An evaluation is one step for the states. It reads the states as they are between two steps. Its
// writes are applied together or, if it fails, not at all. So no count is lost, and values written
// together become visible together.
//
// Evaluations on one loop are serialised by the loop's lock, and a runtime with one loop needs no
// further lock. With several loops, a step also takes the lock of the steps if it writes a state
// shared by all loops, or reads two such states or a keyed one. That lock is taken after any loop's
// lock, and held for less than a microsecond.

// steps serialises evaluations on several loops.
type steps struct {
	several atomic.Bool // the runtime has several loops
	mu      sync.Mutex
}

// stateUse describes the reads and writes of states by a policy on one loop.
type stateUse struct {
	reads   []stateRead
	trends  []trendRead
	vars    []*stateVar // the written states, each once
	sites   []stateSite // by site; empty for sites of other effects
	direct  []*stateVar // by site: the state written
	fresh   []uint64    // by var: its value after the step
	some    bool        // it reads or writes a state
	writing uint64      // bit i: site i writes a state
	plain   bool        // all writes without keys are sets, so the old values do not matter
	keyed   keyedUse
	own     map[string]*stateVar // all states, if a keyed state belongs to this loop
	together
}

// together counts the state uses that need the lock of the steps.
type together struct {
	reads  int  // the number of shared states that it reads; a trend or a key counts as two
	writes bool // it writes a shared state
}

type stateRead struct {
	state  *stateVar
	offset int
}

type stateSite struct {
	policy.Site
	at int // in vars
}

// newStateUse returns the program's reads and writes on one loop. all holds all states in the
// program.
func newStateUse(p *policy.Program, all map[string]*stateVar) stateUse {
	s := stateUse{sites: make([]stateSite, len(p.Sites)), direct: make([]*stateVar, len(p.Sites)), plain: true}
	here := map[string]*stateVar{}
	on := func(name string) (v *stateVar, shared bool) {
		if here[name] == nil {
			v := all[name]
			if v.PerLoop {
				v = newState(v.State)
				if v.table != nil {
					s.own = here
				}
			}
			here[name] = v
		}
		return here[name], here[name] == all[name]
	}
	for _, r := range p.Reads {
		if r.OfState() {
			v, shared := on(r.Key)
			s.addRead(v, r, shared)
		}
	}
	for i, site := range p.Sites {
		if site.Effect.Writes() {
			v, shared := on(site.Name)
			s.addWrite(v, i, site, shared)
		}
	}
	s.fresh = make([]uint64, len(s.vars))
	s.some = len(s.reads)+len(s.trends)+len(s.vars)+len(s.keyed.reads)+len(s.keyed.sites) > 0
	return s
}

// addRead adds a read of v; shared says whether v belongs to all loops.
func (s *stateUse) addRead(v *stateVar, r policy.Read, shared bool) {
	weight := 2 // reading a trend advances it, and reading a key counts as a use of it
	switch {
	case r.Stub != stubs.State:
		s.trends = append(s.trends, trendRead{v.trend(r), v, r.Offset})
	case v.table != nil:
		s.keyed.read(v, r)
	default:
		s.reads, weight = append(s.reads, stateRead{v, r.Offset}), 1
	}
	if shared {
		s.together.reads += weight
	}
}

// addWrite adds a write of v by site i; shared says whether v belongs to all loops.
func (s *stateUse) addWrite(v *stateVar, i int, site policy.Site, shared bool) {
	s.writing |= 1 << i
	s.together.writes = s.together.writes || shared
	if v.table != nil {
		s.keyed.write(v, i, site)
		return
	}
	s.plain = s.plain && site.Effect == stubs.Set
	s.sites[i], s.direct[i] = stateSite{site, s.place(v)}, v
}

// place returns the index of v in vars.
func (s *stateUse) place(v *stateVar) int {
	for i, w := range s.vars {
		if v == w {
			return i
		}
	}
	s.vars = append(s.vars, v)
	return len(s.vars) - 1
}

// begin reads the states for an evaluation. It reports whether it has taken the lock of the steps,
// which the caller gives back when the effects are carried out. Called under the loop's lock.
func (s *stateUse) begin(k *steps, words []uint64, observing bool, now int64) (locked bool) {
	if (s.together.writes || s.together.reads > 1) && k.several.Load() {
		k.mu.Lock()
		locked = true
	}
	for i := range s.reads {
		r := &s.reads[i]
		words[r.offset] = r.state.value(observing)
	}
	for i := range s.trends {
		r := &s.trends[i]
		words[r.offset] = r.trend.value(r.state, observing, now)
	}
	if len(s.keyed.reads) > 0 {
		s.keyed.begin(words, observing, now)
	}
	if locked && !s.together.writes {
		k.mu.Unlock()
		locked = false
	}
	return locked
}

// carryOut carries out the effects on states, in the order of the text: all of them or, on an
// error, none. The snapshot says which keys they are about.
func (s *stateUse) carryOut(fired uint64, values, snapshot []uint64, observing bool, now int64) error {
	byKey := fired & s.keyed.writing
	if byKey != 0 {
		if err := s.keyed.compute(byKey, values, snapshot, observing, now); err != nil {
			return err
		}
		fired &^= byKey
	}
	for plain := s.plain && !s.followed(); plain && fired != 0; fired &= fired - 1 {
		i := bits.TrailingZeros64(fired)
		s.direct[i].write(values[i], observing)
	}
	written := uint64(0)
	for ; fired != 0; fired &= fired - 1 {
		i := bits.TrailingZeros64(fired)
		site := &s.sites[i]
		v := s.vars[site.at]
		was := s.fresh[site.at]
		if written>>site.at&1 == 0 {
			was = v.value(observing)
		}
		word, err := site.Update(was, values[i])
		if err != nil {
			return err
		}
		s.fresh[site.at] = word
		written |= 1 << site.at
	}
	for ; written != 0; written &= written - 1 {
		i := bits.TrailingZeros64(written)
		s.vars[i].follow(s.fresh[i], observing, now)
		s.vars[i].write(s.fresh[i], observing)
	}
	if byKey != 0 {
		s.keyed.carryOut(observing, now)
	}
	return nil
}

// forget discards what the policy has written to states in observe mode. Called under the loop's
// lock, or when the policy is not evaluated any more.
func (s *stateUse) forget(k *steps) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, v := range s.vars {
		v.shadowed.Store(false)
	}
	s.keyed.forget()
}

// severalLoops makes steps safe on several loops. When it returns, every evaluation in progress
// knows that there are several loops. Called with regMu held, before other code sees a second loop.
func (rt *Runtime) severalLoops() {
	if rt.steps.several.Swap(true) {
		return
	}
	l := rt.Loop() // where an evaluation may be in progress
	l.lock()
	defer l.unlock()
}

// betweenSteps calls f while no evaluation that writes states is in progress.
func (rt *Runtime) betweenSteps(f func()) {
	l := rt.Loop()
	l.lock()
	defer l.unlock()
	rt.steps.mu.Lock()
	defer rt.steps.mu.Unlock()
	f()
}
