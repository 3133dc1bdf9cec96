package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// tables checks everything except the tree.
func (f *form) tables() error {
	p := f.p
	switch {
	case p.On == 0 || p.On&^stubs.AnyEvent != 0:
		return malformed("%#x is not a set of notifications", uint16(p.On))
	case p.Words < 0 || p.Words > maxWords:
		return malformed("a snapshot of %d words; 0 to %d are possible", p.Words, maxWords)
	case len(p.Reads) > maxTable || len(p.Locals) > maxTable || len(p.Reasons) > maxTable:
		return malformed("%d reads, %d locals, %d reasons; at most %d each", len(p.Reads), len(p.Locals), len(p.Reasons), maxTable)
	case len(p.Sites) > stubs.MaxSites:
		return p.Errorf(nil, "split the policy", "the policy has %d effects, and %d are allowed", len(p.Sites), stubs.MaxSites)
	}
	for i, t := range p.Locals {
		if !scalar(t) {
			return malformed("local %d has the type %v", i, t)
		}
	}
	for i, s := range p.Sites {
		if err := checkSite(p.On, i, s); err != nil {
			return err
		}
	}
	for _, at := range p.Repeats {
		if at[0] < 0 || at[1] < at[0] || at[1] > len(p.Text) {
			return malformed("a list repeats a constant at %v of a text of %d bytes", at, len(p.Text))
		}
	}
	for _, n := range p.Dropped {
		if n == nil || n.Pos < 0 || n.End < n.Pos || n.End > len(p.Text) {
			return malformed("a dropped fraction has no place in a text of %d bytes", len(p.Text))
		}
	}
	if err := checkSets(p.Sets); err != nil {
		return err
	}
	if err := f.layout(); err != nil {
		return err
	}
	return f.keys()
}

// checkSets checks the properties of sets that look-ups rely on, and the number of their constants.
func checkSets(sets []ir.Set) error {
	constants := 0
	for i, s := range sets {
		if constants += len(s.Words); constants > lang.MaxConstants {
			return malformed("the sets have more than %d constants", lang.MaxConstants)
		}
		if len(s.Words) == 0 || s.Type != stubs.Name && !s.Type.Integral() {
			return malformed("set %d has %d constants of type %v", i, len(s.Words), s.Type)
		}
		for k := range s.Words[1:] {
			if s.Words[k] >= s.Words[k+1] {
				return malformed("set %d is not sorted", i)
			}
		}
	}
	return nil
}

func scalar(t stubs.Type) bool { return t == stubs.Bool || t == stubs.Name || t.Numeric() }

func checkSite(on stubs.Event, i int, s ir.Site) error {
	wrong := s.Type != stubs.Unit
	switch s.Effect {
	case stubs.Set:
		wrong = !scalar(s.Type)
	case stubs.Add, stubs.Max, stubs.Min:
		wrong = !s.Type.Numeric()
	case stubs.Take:
		wrong = s.Type != stubs.Float
	case stubs.Interval:
		wrong = s.Type != stubs.Duration
	case stubs.Rank:
		wrong = !s.Type.Integral()
	case stubs.Call, stubs.Cancel, stubs.Background:
	default:
		return malformed("effect %d is of the unknown kind %d", i, uint8(s.Effect))
	}
	arrives, mixed := on == stubs.Enqueue, on&(stubs.Enqueue|stubs.Ends) != 0
	if s.Effect == stubs.Rank && !arrives || s.Effect == stubs.Background && !arrives && mixed {
		return malformed("effect %d, %v, has no task to act on on %v", i, s.Effect, on)
	}
	if wrong {
		return malformed("effect %d, %v, has an operand of type %v", i, s.Effect, s.Type)
	}
	if s.Name == "" && (s.Effect.Writes() || s.Effect == stubs.Call) {
		return malformed("effect %d, %v, has no name", i, s.Effect)
	}
	return nil
}

// layout checks the reads: each is a stub of the catalogue that exists on the program's
// notifications, inside the snapshot, and no two overlap.
func (f *form) layout() error {
	owner := make([]bool, f.p.Words)
	for i, r := range f.p.Reads {
		list, err := f.stub(r)
		if err != nil {
			return err
		}
		if r.Words < 1 || r.Words > f.p.Words || r.Offset < 0 || r.Offset > f.p.Words-r.Words || !list && r.Words != 1 {
			return malformed("read %d takes %d words at %d of a snapshot of %d", i, r.Words, r.Offset, f.p.Words)
		}
		for w := r.Offset; w < r.Offset+r.Words; w++ {
			if owner[w] {
				return malformed("read %d overlaps another", i)
			}
			owner[w] = true
		}
		f.reads[r.Offset] = r
	}
	return nil
}

// figure checks the quantile and the window of a read.
func figure(r ir.Read) error {
	quantile := r.Stub < stubs.State && stubs.Catalogue[r.Stub].Quantile
	windowed := quantile || r.OfState() && r.Stub != stubs.State
	switch {
	case quantile != (r.Quantile != 0), quantile && !(r.Quantile > 0 && r.Quantile < 1):
		return malformed("read %v has the quantile %v", r, r.Quantile)
	case windowed != (r.Window != 0), windowed && (r.Window < ir.MinWindow || r.Window > ir.MaxWindow):
		return malformed("read %v has the window %v", r, r.Window)
	}
	return nil
}
