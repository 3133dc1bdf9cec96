package cocoon

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// An evaluation is one step for the states: it sees what others have left between two steps, and
// what it writes is written at once or, when it errs, not at all. So nothing that is counted is
// lost, and values that are written together are seen together.
//
// Evaluations on one loop follow each other under its lock, which is all that a runtime with one
// loop needs. Where there are more, the steps that need it also take the lock of the steps: those
// that write a state of all loops, and those that read two of them. It comes after any loop's lock,
// and is held for less than a microsecond.

// steps serialises evaluations on several loops.
type steps struct {
	several atomic.Bool // there are several loops
	mu      sync.Mutex
}

// stateUse is what a policy reads and writes of the states on one loop.
type stateUse struct {
	reads   []stateRead
	trends  []trendRead
	vars    []*stateVar // that it writes, each once
	sites   []stateSite // by site; those of other effects are empty
	direct  []*stateVar // by site: what it writes
	fresh   []uint64    // by var: its value after the step
	some    bool        // it reads or writes any
	writing uint64      // bit i: site i writes a state
	plain   bool        // all of them by set: what is there does not matter
	together
}

// together says what several loops make of a policy's states.
type together struct {
	reads  int  // how many states of all loops it reads; a trend counts as two
	writes bool // it writes one
}

type stateRead struct {
	state  *stateVar
	offset int
}

type stateSite struct {
	policy.Site
	at int // in vars
}

// newStateUse returns what the program reads and writes, on one loop; all are the states that it
// refers to.
func newStateUse(p *policy.Program, all map[string]*stateVar) stateUse {
	s := stateUse{sites: make([]stateSite, len(p.Sites)), direct: make([]*stateVar, len(p.Sites)), plain: true}
	here := map[string]*stateVar{}
	on := func(name string) *stateVar {
		if here[name] == nil {
			v := all[name]
			if v.perLoop {
				v = newState(v.typ, v.first)
			}
			here[name] = v
		}
		return here[name]
	}
	for _, r := range p.Reads {
		if !r.OfState() {
			continue
		}
		v := on(r.Key)
		if r.Stub != stubs.State {
			s.trends = append(s.trends, trendRead{v.trend(r), v, r.Offset})
			if v == all[r.Key] {
				s.together.reads += 2 // to read a trend moves it on
			}
			continue
		}
		s.reads = append(s.reads, stateRead{v, r.Offset})
		if v == all[r.Key] {
			s.together.reads++
		}
	}
	for i, site := range p.Sites {
		if !site.Effect.Writes() {
			continue
		}
		v := on(site.Name)
		s.writing |= 1 << i
		s.plain = s.plain && site.Effect == stubs.Set
		s.together.writes = s.together.writes || v == all[site.Name]
		s.sites[i], s.direct[i] = stateSite{site, s.place(v)}, v
	}
	s.fresh = make([]uint64, len(s.vars))
	s.some = len(s.reads)+len(s.trends)+len(s.vars) > 0
	return s
}

// place returns where v is in vars.
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
	if locked && !s.together.writes {
		k.mu.Unlock()
		locked = false
	}
	return locked
}

// carryOut carries out the effects on states, in the order of the text: all of them or, on an
// error, none.
func (s *stateUse) carryOut(fired uint64, values []uint64, observing bool, now int64) error {
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
	return nil
}

// forget ends what the policy has made of states in observe mode. Called under the loop's lock, or
// when it is evaluated no more.
func (s *stateUse) forget(k *steps) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, v := range s.vars {
		v.shadowed.Store(false)
	}
}

// severalLoops makes steps safe on several loops. When it returns there is no evaluation under way
// that does not know. Called with regMu held, before a second loop is seen by others.
func (rt *Runtime) severalLoops() {
	if rt.steps.several.Swap(true) {
		return
	}
	l := rt.Loop() // on which one may be under way
	l.lock()
	defer l.unlock()
}

// betweenSteps calls f while no evaluation that writes states is under way.
func (rt *Runtime) betweenSteps(f func()) {
	l := rt.Loop()
	l.lock()
	defer l.unlock()
	rt.steps.mu.Lock()
	defer rt.steps.mu.Unlock()
	f()
}
