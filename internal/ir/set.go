package ir

import (
	"slices"

	"github.com/cocoon-go/cocoon/stubs"
)

// Set holds the elements of a list.
type Set struct {
	Type  stubs.Type // Name, or Integral
	Words []uint64   // in ascending order, each once
}

// Has reports whether the word is in the set.
func (s Set) Has(word uint64) bool {
	_, found := slices.BinarySearch(s.Words, word)
	return found
}
