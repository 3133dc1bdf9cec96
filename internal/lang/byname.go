package lang

import (
	"maps"
	"slices"
)

// ByName finds the entry for a name. An entry belongs to a name or to a pattern of names; the most
// specific one counts: the entry of the name itself, or else the matching pattern with the greatest
// precision. It is immutable.
type ByName[T any] struct {
	names    map[string]T
	patterns []patterned[T] // the most precise first
}

type patterned[T any] struct {
	Pattern
	entry T
}

// NewByName returns the entries by name. A key is a name or a pattern, as ParsePattern reads it.
func NewByName[T any](entries map[string]T) *ByName[T] {
	b := &ByName[T]{names: make(map[string]T, len(entries))}
	for _, text := range slices.Sorted(maps.Keys(entries)) {
		p, _ := ParsePattern(text) // the reader of the document reports the error
		if name, ok := p.Name(); ok {
			b.names[name] = entries[text]
		} else {
			b.patterns = append(b.patterns, patterned[T]{p, entries[text]})
		}
	}
	slices.SortStableFunc(b.patterns, func(x, y patterned[T]) int { return y.Precision() - x.Precision() })
	return b
}

// Of returns the entry for the name; whole is true when it belongs to that exact name, and ok is
// false when there is none. A nil ByName has no entries.
func (b *ByName[T]) Of(name string) (entry T, whole, ok bool) {
	if b == nil {
		return entry, false, false
	}
	if entry, ok = b.names[name]; ok {
		return entry, true, true
	}
	for i := range b.patterns {
		if p := &b.patterns[i]; p.Matches(name) {
			return p.entry, false, true
		}
	}
	return entry, false, false
}
