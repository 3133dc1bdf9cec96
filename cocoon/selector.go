package cocoon

import (
	"sync/atomic"

	"github.com/cocoon-go/cocoon/stubs"
)

// named is what policies compare of an object with a name: the number of the name, and the
// selectors that contain it.
type named struct {
	text string
	id   stubs.NameID
	kept bool // the runtime keeps it

	selected atomic.Pointer[selection]
}

// selector is a set of names to which policies refer by a pattern. A name is compared with all
// selectors once, when it is first met and when the selectors change; afterwards only a bit is
// read. A selector exists as long as policies refer to it.
type selector struct {
	key     string // identifies it
	slot    int    // its bit
	refs    int    // guarded by regMu
	selects func(string) bool

	taskMet, sectionMet atomic.Bool // a task, or a section, has had such a name
}

// selectors are the selectors in use, by slot, with nil for a free slot. The slice is immutable.
type selectors []*selector

// selection says which of the selectors contain a name. It is immutable.
type selection struct {
	of   *selectors
	bits []uint64
}

func (all *selectors) selection(text string) *selection {
	s := &selection{of: all, bits: make([]uint64, (len(*all)+63)/64)}
	for i, sel := range *all {
		if sel != nil && sel.selects(text) {
			s.bits[i/64] |= 1 << (i % 64)
		}
	}
	return s
}

const patternKey = "pattern " // the prefix of the key of a pattern's selector
