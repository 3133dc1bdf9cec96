package states

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// keyedUse describes the reads and writes of keyed states and buckets by a policy on one loop.
type keyedUse struct {
	reads   []keyedRead
	sites   []keyedSite // in the order of the text
	writing uint64      // bit i: site i writes one
	writes  []keyedWord // of a step, computed and not yet carried out
}

type keyedRead struct {
	state  *Var
	by     keyFrom
	offset int
}

type keyedSite struct {
	ir.Site
	state *Var
	by    keyFrom
	index int
}

// keyFrom is the source of a key: a word of the snapshot, a constant, or several parts.
type keyFrom struct {
	offset int // -1: there is none
	word   uint64
	parts  *ir.KeyOf // nil: offset or word is the key
}

// newKeyFrom returns the source of a program's key; by is nil for a bucket without keys.
func newKeyFrom(by *ir.KeyOf) keyFrom {
	switch {
	case by == nil:
		return keyFrom{offset: -1}
	case by.Constant():
		return keyFrom{offset: -1, word: by.In(nil)}
	case by.Types() == ir.KeyTypes{stubs.Name}:
		return keyFrom{offset: by[0].Offset}
	}
	return keyFrom{offset: -1, parts: by}
}

func (k *keyFrom) in(snapshot []uint64) uint64 {
	switch {
	case k.offset >= 0:
		return snapshot[k.offset]
	case k.parts != nil:
		return k.parts.In(snapshot)
	}
	return k.word
}

type keyedWord struct {
	state     *Var
	key, word uint64
}

func (u *keyedUse) read(v *Var, r ir.Read) {
	u.reads = append(u.reads, keyedRead{v, newKeyFrom(r.By), r.Offset})
}

func (u *keyedUse) write(v *Var, i int, s ir.Site) {
	u.sites = append(u.sites, keyedSite{s, v, newKeyFrom(s.By), i})
	u.writing |= 1 << i
	u.writes = make([]keyedWord, 0, len(u.sites))
}

// begin reads the keyed states for an evaluation, after all its other reads.
func (u *keyedUse) begin(snapshot []uint64, observing bool, now int64) {
	for i := range u.reads {
		r := &u.reads[i]
		snapshot[r.offset] = r.state.at(r.by.in(snapshot), observing, now)
	}
}

// compute computes the writes of the fired sites, in the order of the text, and writes nothing.
func (u *keyedUse) compute(fired uint64, values, snapshot []uint64, observing bool, now int64) error {
	u.writes = u.writes[:0]
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
		u.writes = append(u.writes, keyedWord{s.state, key, word})
	}
	return nil
}

// was returns the word of a key after the writes computed so far. Two sites may mean one key by
// different names.
func (u *keyedUse) was(v *Var, key uint64, observing bool, now int64) uint64 {
	for i := len(u.writes) - 1; i >= 0; i-- {
		if f := &u.writes[i]; f.state == v && f.key == key {
			return f.word
		}
	}
	return v.at(key, observing, now)
}

// carryOut writes the computed values.
func (u *keyedUse) carryOut(observing bool, now int64) {
	for i := range u.writes {
		f := &u.writes[i]
		f.state.put(f.key, f.word, observing, now)
	}
}

// forget discards the policy's writes to keyed states in observe mode.
func (u *keyedUse) forget() {
	for i := range u.sites {
		u.sites[i].state.table.shadow.Store(nil)
	}
}
