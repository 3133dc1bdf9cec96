package states

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// To the states, an evaluation is one step: no other step comes between its reads and its writes.
// The writes are applied together or, if the evaluation fails, not at all. So no count is lost, and
// values written together become visible together.
//
// The loop's lock serialises the evaluations on a loop, and a runtime with one loop needs no
// further lock. With several loops, a step also takes the lock of the steps (Steps) if it writes a
// state that all loops share, or reads two such states, a trend or a keyed state. That lock is
// taken after any loop's lock, and held for less than a microsecond.

// Steps is the lock of the steps. It serialises evaluations on several loops.
type Steps struct {
	several atomic.Bool // the runtime has several loops
	sync.Mutex
}

// BecomeSeveral records that there are several loops, and reports whether there was one before. An
// evaluation in progress may not have taken the lock, because it began with one loop.
func (k *Steps) BecomeSeveral() (news bool) { return !k.several.Swap(true) }

// Use describes the reads and writes of states by a policy on one loop. It is used under the loop's
// lock. The zero Use is of a policy without states.
type Use struct {
	reads   []varRead
	trends  []trendRead
	vars    []*Var    // the written states, each once
	sites   []varSite // by site; empty for sites of other effects
	direct  []*Var    // by site: the state written
	after   []uint64  // by var: its value after the step
	Some    bool      // it reads or writes a state; callers do not write it
	Writing uint64    // bit i: site i writes a state; callers do not write it
	plain   bool      // all writes without keys are sets, so the old values do not matter
	keyed   keyedUse
	own     map[string]*Var // all states, if a state belongs to this loop
	together
}

// together counts the state uses that need the lock of the steps.
type together struct {
	reads  int  // the number of shared states that it reads; a trend or a key counts as two
	writes bool // it writes a shared state
}

type varRead struct {
	state  *Var
	offset int
}

type varSite struct {
	ir.Site
	at int // in vars
}

// NewUse returns the program's reads and writes on one loop. all holds all states in the program.
// The policy comes into force now.
func NewUse(p *ir.Program, all map[string]*Var, now int64) Use {
	s := Use{sites: make([]varSite, len(p.Sites)), direct: make([]*Var, len(p.Sites)), plain: true}
	here := map[string]*Var{}
	on := func(name string) (v *Var, shared bool) {
		if here[name] == nil {
			v := all[name]
			if v.PerLoop {
				v = New(v.State)
				s.own = here
			}
			here[name] = v
		}
		return here[name], here[name] == all[name]
	}
	for _, r := range p.Reads {
		if r.OfState() {
			v, shared := on(r.Key)
			s.addRead(v, r, shared, now)
		}
	}
	for i, site := range p.Sites {
		if site.Effect.Writes() {
			v, shared := on(site.Name)
			s.addWrite(v, i, site, shared)
		}
	}
	s.after = make([]uint64, len(s.vars))
	s.Some = len(s.reads)+len(s.trends)+len(s.vars)+len(s.keyed.reads)+len(s.keyed.sites) > 0
	return s
}

// addRead adds a read of v; shared says whether v belongs to all loops.
func (s *Use) addRead(v *Var, r ir.Read, shared bool, now int64) {
	weight := 2 // reading a trend advances it, and reading a key counts as a use of it
	switch {
	case r.Stub != stubs.State:
		s.trends = append(s.trends, trendRead{v.trend(r, now), v, r.Offset})
	case v.table != nil:
		s.keyed.read(v, r)
	default:
		s.reads, weight = append(s.reads, varRead{v, r.Offset}), 1
	}
	if shared {
		s.together.reads += weight
	}
}

// addWrite adds a write of v by site i; shared says whether v belongs to all loops.
func (s *Use) addWrite(v *Var, i int, site ir.Site, shared bool) {
	s.Writing |= 1 << i
	s.together.writes = s.together.writes || shared
	if v.table != nil {
		s.keyed.write(v, i, site)
		return
	}
	s.plain = s.plain && site.Effect == stubs.Set
	s.sites[i], s.direct[i] = varSite{site, s.place(v)}, v
}

// place returns the index of v in vars.
func (s *Use) place(v *Var) int {
	for i, w := range s.vars {
		if v == w {
			return i
		}
	}
	s.vars = append(s.vars, v)
	return len(s.vars) - 1
}

// Begin reads the states for an evaluation. It reports whether it has taken the lock of the steps,
// which the caller unlocks when the effects are carried out. Called under the loop's lock.
func (s *Use) Begin(k *Steps, words []uint64, observing bool, now int64) (locked bool) {
	if (s.together.writes || s.together.reads > 1) && k.several.Load() {
		k.Lock()
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
		k.Unlock()
		locked = false
	}
	return locked
}

// CarryOut carries out the effects on states, in the order of the text: all of them or, on an
// error, none. The snapshot has the keys. A bit of changed means that the site has given a state
// without keys another value by set.
func (s *Use) CarryOut(fired uint64, values, snapshot []uint64, observing bool, now int64) (changed uint64, err error) {
	byKey := fired & s.keyed.writing
	if byKey != 0 {
		if err := s.keyed.compute(byKey, values, snapshot, observing, now); err != nil {
			return 0, err
		}
		fired &^= byKey
	}
	for plain := s.plain && !s.followed(); plain && fired != 0; fired &= fired - 1 {
		i := bits.TrailingZeros64(fired)
		if s.direct[i].write(values[i], observing) {
			changed |= 1 << i
		}
	}
	written := uint64(0)
	for ; fired != 0; fired &= fired - 1 {
		i := bits.TrailingZeros64(fired)
		site := &s.sites[i]
		v := s.vars[site.at]
		was := s.after[site.at]
		if written>>site.at&1 == 0 {
			was = v.value(observing)
		}
		word, err := site.Update(was, values[i])
		if err != nil {
			return 0, err
		}
		if site.Effect == stubs.Set && word != was {
			changed |= 1 << i
		}
		s.after[site.at] = word
		written |= 1 << site.at
	}
	for ; written != 0; written &= written - 1 {
		i := bits.TrailingZeros64(written)
		s.vars[i].follow(s.after[i], observing, now)
		s.vars[i].write(s.after[i], observing)
	}
	if byKey != 0 {
		s.keyed.carryOut(observing, now)
	}
	return changed, nil
}

// Forget discards what the policy has written to states in observe mode. Called under the loop's
// lock, or when the policy is not evaluated any more.
func (s *Use) Forget(k *Steps) {
	k.Lock()
	defer k.Unlock()
	for _, v := range s.vars {
		v.shadowed.Store(false)
	}
	s.keyed.forget()
}

// Release removes the policy from the users of the trends that it reads, and removes trends without
// users. Called with the lock of registrations held, when the policy is evaluated no more.
func (s *Use) Release() {
	for _, r := range s.trends {
		if r.trend.users--; r.trend.users > 0 {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(*r.state.trends.Load()), func(t *trend) bool { return t == r.trend })
		if len(left) == 0 {
			r.state.trends.Store(nil)
		} else {
			r.state.trends.Store(&left)
		}
	}
	s.trends = nil
}

// Own returns the loop's own state of the name, or nil if the policy has none. Called with the lock
// of registrations held.
func (s *Use) Own(name string) *Var { return s.own[name] }

// followed reports whether a policy reads a trend of a state that this policy writes.
func (s *Use) followed() bool {
	for _, v := range s.vars {
		if v.trends.Load() != nil {
			return true
		}
	}
	return false
}
