package instrument

import (
	"slices"
	"strings"
)

// edits are changes to a text. None may contain a newline, so line numbers stay the same.
type edits []edit

type edit struct {
	at, end int // the bytes replaced; equal for an insertion
	text    string
}

func (e *edits) insert(at int, text string) { e.replace(at, at, text) }

func (e *edits) replace(at, end int, text string) { *e = append(*e, edit{at, end, text}) }

// apply returns the changed text. Insertions at the same place keep the order of their creation.
func (e edits) apply(src []byte) []byte {
	sorted := slices.Clone(e)
	slices.SortStableFunc(sorted, func(a, b edit) int { return a.at - b.at })
	var out strings.Builder
	done := 0
	for _, c := range sorted {
		out.Write(src[done:c.at])
		out.WriteString(c.text)
		done = c.end
	}
	out.Write(src[done:])
	return []byte(out.String())
}
