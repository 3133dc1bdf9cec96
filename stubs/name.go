package stubs

import (
	"strings"
	"sync"
	"sync/atomic"
)

// NameID is an interned string: policies compare names as numbers. The zero NameID is the empty string.
type NameID uint32

// MaxNames bounds the process-wide table of names, because names may come from outside (labels, routes): each NameID is
// less. What comes after the bound is shown to policies as Other. The last part is kept for the names in policies, so that a
// flood of labels does not keep policies from being registered.
const MaxNames = 1 << 16

const maxOutside = MaxNames / 4 * 3

// MaxName bounds a name that policies can tell from others, in bytes. Without it the table would be bounded in names, and a
// client that sends long ones could fill the memory.
const MaxName = 1024

// Other is what a name from outside becomes that is longer than MaxName, and every name once the table is full.
const Other = NameID(1)

// nameTable is the table; only intern adds to it.
type nameTable struct {
	ids   sync.Map // string -> NameID
	mu    sync.Mutex
	count atomic.Uint32
	texts [MaxNames]atomic.Pointer[string]
}

// names is made by its declaration, not by init: Kinds, a variable of the package too, interns names before any init runs.
var names = func() *nameTable {
	t := new(nameTable)
	for i, s := range []string{"", "other"} {
		t.ids.Store(s, NameID(i))
		t.texts[i].Store(&s)
	}
	t.count.Store(2)
	return t
}()

// Intern returns the id of s, the same for equal strings for the life of the process. It is safe for concurrent use and
// costs one map look-up for a known name. The table holds 65,536 names; later ones become Other. It is for names that
// programs and their operators choose; others are for InternOutside.
func Intern(s string) NameID { return intern(s, MaxNames) }

// InternOutside is Intern for a name that may come from outside, of which there may be any number: labels, routes. New
// ones become Other when the table holds 49,152 names, or when they are longer than MaxName.
func InternOutside(s string) NameID {
	if len(s) > MaxName {
		return Other
	}
	return intern(s, maxOutside)
}

func intern(s string, most uint32) NameID {
	if id, ok := names.ids.Load(s); ok {
		return id.(NameID)
	}
	names.mu.Lock()
	defer names.mu.Unlock()
	if id, ok := names.ids.Load(s); ok {
		return id.(NameID)
	}
	n := names.count.Load()
	if n >= most {
		return Other
	}
	s = strings.Clone(s) // it may be part of a whole request
	names.texts[n].Store(&s)
	names.count.Store(n + 1)
	names.ids.Store(s, NameID(n))
	return NameID(n)
}

// String returns the text that was interned.
func (n NameID) String() string {
	if n < MaxNames {
		if s := names.texts[n].Load(); s != nil {
			return *s
		}
	}
	return "other"
}
