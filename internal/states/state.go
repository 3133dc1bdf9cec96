package states

import (
	"fmt"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/keyed"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Var is a registered or private state. Policies write it, and tasks read it. It is safe for
// concurrent use, except as its methods say.
type Var struct {
	policy.State               // the declaration at its creation
	table        *table        // of a keyed state or a bucket; else nil
	word         atomic.Uint64 // of other states; written as described at Use

	// The value written by observing policies since an enforcing policy last wrote the state. Only
	// observing policies read it.
	shadow   atomic.Uint64
	shadowed atomic.Bool

	asked atomic.Bool // a task has read the state

	// trends are read by policies; nil: none. Replaced with the lock of registrations held.
	trends atomic.Pointer[[]*trend]
}

// table holds the values of a keyed state, or the tokens of buckets. Its non-atomic fields change
// between steps.
type table struct {
	of    policy.State // the current declaration
	words *keyed.Table

	evicted, expired int64 // counts of earlier tables; guarded by the lock of registrations

	// The values that observing policies have written, by key, since an enforcing policy last wrote
	// the key.
	shadow atomic.Pointer[keyed.Table]
}

// trend is a rate or an average of a state, shared by all policies that read it over the same
// window. Each write of the state updates it (see Use). The loop's lock serialises reads and
// writes, or the lock of the steps if the state belongs to several loops. users is guarded by the
// lock of registrations.
type trend struct {
	of    ir.Read
	users int
	main  ir.Trend

	// The trend as observing policies see it; valid while the state has a shadow.
	shadow ir.Trend
}

// New makes a state, with its first value.
func New(s policy.State) *Var {
	v := &Var{State: s}
	v.word.Store(s.First)
	if s.Keys > 0 || s.IsBucket() {
		v.table = &table{of: s, words: newWords(s)}
	}
	return v
}

// OfEachLoop makes a state that each loop has separately. It has no value: NewUse makes the state
// of a loop.
func OfEachLoop(s policy.State) *Var { return &Var{State: s} }

// Sharing makes a state with another declaration and the same values as v, a keyed state or a
// bucket.
func (v *Var) Sharing(s policy.State) *Var { return &Var{State: s, table: v.table} }

// HasKeys reports whether the state is a keyed state or a bucket, which has no Word.
func (v *Var) HasKeys() bool { return v.table != nil }

// Word returns the state's word, for a reader other than a policy. It takes no lock.
func (v *Var) Word() uint64 { return v.word.Load() }

// Asked records that a task reads the state.
func (v *Var) Asked() {
	if !v.asked.Load() {
		v.asked.Store(true)
	}
}

// WasAsked reports whether a task has read the state.
func (v *Var) WasAsked() bool { return v.asked.Load() }

// String describes the state, its values and the trends that policies read, for tests. Called with
// the lock of registrations held.
func (v *Var) String() string {
	text := fmt.Sprint(v.Kind())
	if t := v.table; t != nil {
		text += fmt.Sprint(", burst ", v.Bucket.Burst, ", declared ", t.of, ", ", t.words.Len(), " of ", t.words.Bound(), " keys")
	} else {
		text += fmt.Sprint(" ", stubs.Value(v.word.Load(), v.Type))
	}
	if trends := v.trends.Load(); trends != nil {
		for _, t := range *trends {
			text += fmt.Sprint(", trend with ", t.users, " users")
		}
	}
	return text
}

// value returns the word that a policy reads.
func (v *Var) value(observing bool) uint64 {
	if observing && v.shadowed.Load() {
		return v.shadow.Load()
	}
	return v.word.Load()
}

// write writes the word for a policy, and reports whether that is news to the policy. A load and a
// comparison cost less than a store.
func (v *Var) write(word uint64, observing bool) (news bool) {
	news = v.value(observing) != word
	if observing || v.shadowed.Load() {
		v.writeBeside(word, observing)
	} else if news {
		v.word.Store(word)
	}
	return news
}

// writeBeside is write for a state that has a shadow, or needs one.
func (v *Var) writeBeside(word uint64, observing bool) {
	v.shadowed.Store(observing)
	if observing {
		v.shadow.Store(word)
	} else {
		v.word.Store(word)
	}
}
