package stubs

import (
	"fmt"
	"hash/maphash"
)

// NameID stands for a name: policies compare names as numbers. It is a hash of the name under a key
// that the process draws when it starts, so there is no table of names that clients or reloads
// could fill: a name means the same before a policy speaks of it, meanwhile and afterwards. That
// two of a million names have one NameID has a probability of 1 in 10^7, and who does not see the
// key can do nothing for it. The NameID of the empty string is 0.
//
// The alternative, a table that numbers the names, must be bounded, and then names from outside
// stand for each other or push out those of policies; and a number that is given back may be had by
// two names, while tasks carry it.
type NameID uint64

var nameKey = maphash.MakeSeed()

// MaxName bounds the names that policies speak of, in bytes, and those of tenants that have an
// account. Others may be longer.
const MaxName = 1024

// Intern returns the NameID of s, the same for equal strings for the life of the process. It is
// safe for concurrent use, keeps nothing, and takes a few nanoseconds.
func Intern(s string) NameID {
	if s == "" {
		return 0
	}
	return max(1, NameID(maphash.String(nameKey, s)))
}

// String returns the name of a kind, and for others a number: the name is with whoever interned it.
func (n NameID) String() string {
	if n == 0 {
		return ""
	}
	for i, k := range Kinds {
		if k == n {
			return KindNames[i]
		}
	}
	return fmt.Sprintf("name %#x", uint64(n))
}
