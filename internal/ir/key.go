package ir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cocoon-go/cocoon/stubs"
)

// MaxKeyParts is the greatest number of parts of a key.
const MaxKeyParts = 2

// KeyTypes are the types of the parts of a keyed state's keys, each Name or Int; the rest are
// Invalid. The zero KeyTypes allow keys of any types, for states whose declaration is unknown.
type KeyTypes [MaxKeyParts]stubs.Type

// OneName are the types of a key, if the declaration has none.
var OneName = KeyTypes{stubs.Name}

// KeyTypesOf reads the types of a declaration; nil is one name.
func KeyTypesOf(by []string) (k KeyTypes, err error) {
	if by == nil {
		return OneName, nil
	}
	if len(by) < 1 || len(by) > MaxKeyParts {
		return k, fmt.Errorf("has keys of %d parts; want 1 to %d", len(by), MaxKeyParts)
	}
	for i, name := range by {
		switch name {
		case stubs.Name.String():
			k[i] = stubs.Name
		case stubs.Int.String():
			k[i] = stubs.Int
		default:
			return k, fmt.Errorf("has keys by %q; want name or int, or a pair of them", name)
		}
	}
	return k, nil
}

// Parts returns how many parts a key has; 0 if that is not known.
func (k KeyTypes) Parts() int {
	if n := slices.Index(k[:], stubs.Invalid); n >= 0 {
		return n
	}
	return len(k)
}

// String returns "name", "name and int".
func (k KeyTypes) String() string {
	if k.Parts() == 0 {
		k = OneName
	}
	var names []string
	for _, t := range k[:k.Parts()] {
		names = append(names, t.String())
	}
	return strings.Join(names, " and ")
}

// Example returns a key of these types as a policy may write it.
func (k KeyTypes) Example() (parts []string) {
	if k.Parts() == 0 {
		k = OneName
	}
	for i, t := range k[:k.Parts()] {
		switch {
		case t == stubs.Int:
			parts = append(parts, "int(task.labels.shard)")
		case i == 0:
			parts = append(parts, "tenant.name")
		default:
			parts = append(parts, "task.name")
		}
	}
	return parts
}

// Word returns the word of a key from the values of its parts: strings, and ints or int64s. ok is
// false if a key has other types.
func (k KeyTypes) Word(values ...any) (word uint64, ok bool) {
	if len(values) != k.Parts() {
		return 0, false
	}
	var words [MaxKeyParts]uint64
	for i, v := range values {
		var t stubs.Type
		if words[i], t, _ = stubs.Word(v); t != k[i] {
			return 0, false
		}
	}
	return k.word(words), true
}

// word combines the words of the parts. A single name is its own key, and so is a key without
// parts, of a bucket.
func (k KeyTypes) word(words [MaxKeyParts]uint64) uint64 {
	if k == OneName || k.Parts() == 0 {
		return words[0]
	}
	return stubs.KeyWord(words[:k.Parts()]...)
}

// KeyOf is a key of a keyed state, as a program writes it. Missing parts have the type Invalid.
type KeyOf [MaxKeyParts]KeyPart

// KeyPart is a part of a key: a constant, or a name or an int that the program reads.
type KeyPart struct {
	Type     stubs.Type
	Constant bool
	Word     uint64 // of a constant
	Text     string // the text of a constant, or the path of the stub
	Offset   int    // of the word in the snapshot, if the part is not a constant
}

// Types returns the types of the parts.
func (k *KeyOf) Types() (types KeyTypes) {
	for i := range k {
		types[i] = k[i].Type
	}
	return types
}

// Constant reports whether all parts are constants.
func (k *KeyOf) Constant() bool {
	return !slices.ContainsFunc(k[:], func(p KeyPart) bool { return p.Type != stubs.Invalid && !p.Constant })
}

// In returns the word of the key in an evaluation with that snapshot.
func (k *KeyOf) In(snapshot []uint64) uint64 {
	var words [MaxKeyParts]uint64
	for i := range k {
		switch p := &k[i]; {
		case p.Constant:
			words[i] = p.Word
		case p.Type != stubs.Invalid:
			words[i] = snapshot[p.Offset]
		}
	}
	return k.Types().word(words)
}

// Texts returns the parts as a policy writes them: tenant.name, "gold", 3.
func (k *KeyOf) Texts() (texts []string) {
	for _, p := range k {
		switch {
		case p.Type == stubs.Invalid:
		case p.Constant && p.Type == stubs.Name:
			texts = append(texts, strconv.Quote(p.Text))
		default:
			texts = append(texts, p.Text)
		}
	}
	return texts
}
