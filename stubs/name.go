package stubs

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
)

// NameID represents a name: policies compare names as numbers. It is a hash of the name under a key
// that the process draws when it starts, so there is no table of names that clients or reloads
// could fill: a name has the same NameID before, during and after its use in a policy. The
// probability that two of a million names share a NameID is 1 in 10^7, and a client that does not
// know the key cannot raise it. The NameID of the empty string is 0.
//
// The alternative, a table that numbers the names, must be bounded. Names from outside would then
// share numbers or displace the names of policies, and a reused number could belong to two names
// while tasks carry it.
type NameID uint64

var nameKey = maphash.MakeSeed()

// MaxName is the greatest length, in bytes, of names in policies and of tenants with their own
// account. Other names may be longer.
const MaxName = 1024

// Intern returns the NameID of s, which is the same for equal strings for the life of the process.
// It is safe for concurrent use, stores nothing, and takes a few nanoseconds.
func Intern(s string) NameID {
	if s == "" {
		return 0
	}
	return max(1, NameID(maphash.String(nameKey, s)))
}

// KeyWord combines the words of a key of a keyed state: NameIDs and ints. The same words in another
// order make another key. Like a NameID it differs between processes, so that no client can choose
// keys with equal words.
func KeyWord(words ...uint64) uint64 {
	var text [8 * 4]byte
	bytes := text[:0]
	for _, w := range words {
		bytes = binary.LittleEndian.AppendUint64(bytes, w)
	}
	return maphash.Bytes(nameKey, bytes)
}

// String returns the name of a kind, and a number for other names: only the caller of Intern knows
// the name.
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
