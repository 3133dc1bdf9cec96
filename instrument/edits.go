package instrument

import "slices"

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
	size := len(src)
	for _, c := range sorted {
		size += len(c.text)
	}
	out := make([]byte, 0, size)
	done := 0
	for _, c := range sorted {
		out = append(out, src[done:c.at]...)
		out = append(out, c.text...)
		done = c.end
	}
	return append(out, src[done:]...)
}
