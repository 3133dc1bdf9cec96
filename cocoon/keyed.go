package cocoon

import (
	"math"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/keyed"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// A keyed state is a table, and so is a token bucket, of one key. A table is not atomic: to read it
// is to use a key. So whoever reads or writes one is within a step, and one of all loops is used
// under the lock of the steps where there are several loops.

// stateTable is the values of a keyed state, or what is in buckets. What is not atomic changes
// between steps.
type stateTable struct {
	of    policy.State // as it is declared now
	words *keyed.Table

	evicted, expired int64 // counted by tables before this one; guarded by regMu

	// What observing policies have made of it, by key, since an enforcing one wrote the key.
	shadow atomic.Pointer[keyed.Table]
}

func newStateTable(s policy.State) *stateTable { return &stateTable{of: s, words: newTable(s)} }

func newTable(s policy.State) *keyed.Table { return keyed.New(max(s.Keys, 1), int64(s.TTL)) }

// at returns the word of a key: of a bucket the tokens that are there now. A dry run leaves no trace
// in what enforcing policies read.
func (v *stateVar) at(key uint64, observing bool, now int64) uint64 {
	if !observing {
		word, at, ok := v.table.words.Get(key, now)
		return v.read(word, at, ok, now)
	}
	if shadow := v.table.shadow.Load(); shadow != nil {
		if word, at, ok := shadow.Get(key, now); ok {
			return v.read(word, at, ok, now)
		}
	}
	return v.peek(key, now)
}

// peek returns the same for who is no policy.
func (v *stateVar) peek(key uint64, now int64) uint64 {
	word, at, ok := v.table.words.Peek(key, now)
	return v.read(word, at, ok, now)
}

// read makes of what a table holds what is read.
func (v *stateVar) read(word uint64, at int64, ok bool, now int64) uint64 {
	switch {
	case v.IsBucket() && !ok:
		return v.First // it is full
	case v.IsBucket():
		return math.Float64bits(keyed.Tokens(word, at, now, v.table.of.Bucket.Rate, v.Bucket.Burst))
	case !ok:
		return v.table.of.First
	}
	return word
}

// put writes the word of a key.
func (v *stateVar) put(key, word uint64, observing bool, now int64) {
	shadow := v.table.shadow.Load()
	switch {
	case !observing && shadow != nil:
		shadow.Remove(key)
		fallthrough
	case !observing:
		v.table.words.Put(key, word, now)
		return
	case shadow == nil:
		shadow = newTable(v.table.of)
		v.table.shadow.Store(shadow)
	}
	shadow.Put(key, word, now)
}

// redeclare gives the state another declaration of the same kind. Called with regMu held, between
// steps.
func (v *stateVar) redeclare(s, was policy.State) {
	switch begins := s.Begins(was); {
	case v.table == nil && begins:
		v.restart(s.First)
	case v.table == nil:
	case begins:
		v.table.evicted += v.table.words.Evicted()
		v.table.expired += v.table.words.Expired()
		v.table.words = newTable(s)
		v.table.shadow.Store(nil)
		v.table.of = s
	default:
		v.table.words.SetTTL(int64(s.TTL))
		v.table.of = s
	}
}

// stateByKey is State of a keyed state or a bucket.
func (rt *Runtime) stateByKey(v *stateVar, key []string) any {
	id, word := uint64(0), uint64(0)
	if len(key) > 0 {
		id = uint64(stubs.Intern(key[0]))
	}
	rt.betweenSteps(func() { word = v.peek(id, notify.Now()) })
	return stubs.Value(word, v.Type)
}

// keyedUse is what a policy reads and writes of keyed states and buckets on one loop.
type keyedUse struct {
	reads   []keyedRead
	sites   []keyedSite // in the order of the text
	writing uint64      // bit i: site i writes one
	fresh   []keyedWord // what a step writes
}

type keyedRead struct {
	state  *stateVar
	by     keyFrom
	offset int
}

type keyedSite struct {
	policy.Site
	state *stateVar
	by    keyFrom
	index int
}

// keyFrom says where a key comes from: it is a word of the snapshot or, where there is none, this
// one.
type keyFrom struct {
	offset int // -1: there is none
	word   uint64
}

// newKeyFrom is for a key of a program; nil is that of a bucket without keys.
func newKeyFrom(by *policy.KeyOf) keyFrom {
	switch {
	case by == nil:
		return keyFrom{-1, 0}
	case by.Constant:
		return keyFrom{-1, uint64(stubs.Intern(by.Text))}
	}
	return keyFrom{by.Offset, 0}
}

func (k keyFrom) in(snapshot []uint64) uint64 {
	if k.offset < 0 {
		return k.word
	}
	return snapshot[k.offset]
}

type keyedWord struct {
	state     *stateVar
	key, word uint64
}

func (u *keyedUse) read(v *stateVar, r policy.Read) {
	u.reads = append(u.reads, keyedRead{v, newKeyFrom(r.By), r.Offset})
}

func (u *keyedUse) write(v *stateVar, i int, s policy.Site) {
	u.sites = append(u.sites, keyedSite{s, v, newKeyFrom(s.By), i})
	u.writing |= 1 << i
	u.fresh = make([]keyedWord, 0, len(u.sites))
}

// begin reads for an evaluation, behind all else that it reads.
func (u *keyedUse) begin(snapshot []uint64, observing bool, now int64) {
	for i := range u.reads {
		r := &u.reads[i]
		snapshot[r.offset] = r.state.at(r.by.in(snapshot), observing, now)
	}
}

// compute computes what the fired sites write, in the order of the text, and writes nothing.
func (u *keyedUse) compute(fired uint64, values, snapshot []uint64, observing bool, now int64) error {
	u.fresh = u.fresh[:0]
	for i := range u.sites {
		s := &u.sites[i]
		if fired>>s.index&1 == 0 {
			continue
		}
		key := s.by.in(snapshot)
		word, err := s.Update(u.was(s.state, key, observing, now), values[s.index])
		if err != nil {
			return err
		}
		u.fresh = append(u.fresh, keyedWord{s.state, key, word})
	}
	return nil
}

// was returns the word of a key behind what is computed so far. Two sites may be about one key by
// different names.
func (u *keyedUse) was(v *stateVar, key uint64, observing bool, now int64) uint64 {
	for i := len(u.fresh) - 1; i >= 0; i-- {
		if f := &u.fresh[i]; f.state == v && f.key == key {
			return f.word
		}
	}
	return v.at(key, observing, now)
}

// carryOut writes what was computed.
func (u *keyedUse) carryOut(observing bool, now int64) {
	for i := range u.fresh {
		f := &u.fresh[i]
		f.state.put(f.key, f.word, observing, now)
	}
}

// forget ends what the policy has made of keyed states in observe mode.
func (u *keyedUse) forget() {
	for i := range u.sites {
		u.sites[i].state.table.shadow.Store(nil)
	}
}

// StateStats is a snapshot of a keyed state. What observing policies write, to a shadow, is not
// counted.
type StateStats struct {
	Keys    int   // that are there, or have expired and nobody has come across them
	MaxKeys int   // as declared; for a private state of each loop, of all loops
	Evicted int64 // keys that were dropped for others
	Expired int64 // keys that were dropped because they were not written for the time to live
}

func (s *StateStats) add(t *stateTable) {
	s.Keys += t.words.Len()
	s.MaxKeys += t.words.Bound()
	s.Evicted += t.words.Evicted() + t.evicted
	s.Expired += t.words.Expired() + t.expired
}

// stateStats returns the figures of all keyed states; nil when there are none. Called with regMu
// held.
func (rt *Runtime) stateStats() map[string]StateStats {
	var all map[string]StateStats
	add := func(name string, v *stateVar) {
		if v.Keys == 0 {
			return
		}
		if all == nil {
			all = map[string]StateStats{}
		}
		st := all[name]
		st.add(v.table)
		all[name] = st
	}
	for name, v := range *rt.states.Load() {
		add(name, v)
	}
	for _, r := range rt.policies {
		for name, v := range r.now.states {
			if _, private := r.now.spec.State[name]; !private {
				continue
			}
			if !v.PerLoop {
				add(r.name+"."+name, v)
				continue
			}
			for _, b := range r.now.bounds {
				if own := b.states.own[name]; own != nil {
					add(r.name+"."+name, own)
				}
			}
		}
	}
	return all
}
