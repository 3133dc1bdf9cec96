package states

import (
	"math"

	"github.com/cocoon-go/cocoon/internal/keyed"
	"github.com/cocoon-go/cocoon/policy"
)

// A keyed state is a table, and a token bucket is a table of one key. A table is not atomic,
// because reading it counts as a use of the key. So each use of a table is within a step. If there
// are several loops, a table shared by all loops is used under the lock of the steps.

func newWords(s policy.State) *keyed.Table { return keyed.New(max(s.Keys, 1), int64(s.TTL)) }

// at returns the word of a key; for a bucket, its current tokens. A dry run does not change the
// values that enforcing policies read.
func (v *Var) at(key uint64, observing bool, now int64) uint64 {
	if !observing {
		word, at, ok := v.table.words.Get(key, now)
		return v.read(word, at, ok, now)
	}
	if shadow := v.table.shadow.Load(); shadow != nil {
		if word, at, ok := shadow.Get(key, now); ok {
			return v.read(word, at, ok, now)
		}
	}
	return v.Peek(key, now)
}

// Peek returns the word of a key, or the current tokens of a bucket, for a reader other than an
// enforcing policy. Called between two steps.
func (v *Var) Peek(key uint64, now int64) uint64 {
	word, at, ok := v.table.words.Peek(key, now)
	return v.read(word, at, ok, now)
}

// read converts the result of a table's Get to the word that a policy reads.
func (v *Var) read(word uint64, at int64, ok bool, now int64) uint64 {
	switch {
	case v.IsBucket() && !ok:
		return v.First // a full bucket
	case v.IsBucket():
		return math.Float64bits(keyed.Tokens(word, at, now, v.table.of.Bucket.Rate, v.Bucket.Burst))
	case !ok:
		return v.table.of.First
	}
	return word
}

// put writes the word of a key.
func (v *Var) put(key, word uint64, observing bool, now int64) {
	shadow := v.table.shadow.Load()
	switch {
	case !observing && shadow != nil:
		shadow.Remove(key)
		fallthrough
	case !observing:
		v.table.words.Put(key, word, now)
		return
	case shadow == nil:
		shadow = newWords(v.table.of)
		v.table.shadow.Store(shadow)
	}
	shadow.Put(key, word, now)
}

// Redeclare changes the state to another declaration of the same kind. Called with the lock of
// registrations held, between steps.
func (v *Var) Redeclare(s, was policy.State, now int64) {
	switch begins := s.Begins(was); {
	case v.table == nil && begins:
		v.restart(s.First, now)
	case v.table == nil:
	case begins:
		v.table.evicted += v.table.words.Evicted()
		v.table.expired += v.table.words.Expired()
		v.table.words = newWords(s)
		v.table.shadow.Store(nil)
		v.table.of = s
	default:
		v.table.words.SetTTL(int64(s.TTL))
		if shadow := v.table.shadow.Load(); shadow != nil {
			shadow.SetTTL(int64(s.TTL))
		}
		v.table.of = s
	}
}

// Stats are the figures of a keyed state.
type Stats struct {
	Keys, MaxKeys    int // kept, and as declared
	Evicted, Expired int64
}

// Stats returns the figures of a keyed state or a bucket. Called with the lock of registrations
// held.
func (v *Var) Stats() Stats {
	t := v.table
	return Stats{
		Keys: t.words.Len(), MaxKeys: t.words.Bound(),
		Evicted: t.words.Evicted() + t.evicted, Expired: t.words.Expired() + t.expired,
	}
}
