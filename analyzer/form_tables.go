package analyzer

import (
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// tables checks everything but the tree.
func (f *form) tables() error {
	p := f.p
	switch {
	case p.On == 0 || p.On&^stubs.AnyEvent != 0:
		return malformed("%#x is no set of notifications", uint16(p.On))
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
	return f.layout()
}

func scalar(t stubs.Type) bool { return t == stubs.Bool || t == stubs.Name || t.Numeric() }

func checkSite(on stubs.Event, i int, s policy.Site) error {
	wrong := s.Type != stubs.Unit
	switch s.Effect {
	case stubs.Set:
		wrong = !scalar(s.Type)
	case stubs.Add, stubs.Max, stubs.Min:
		wrong = !s.Type.Numeric()
	case stubs.Interval:
		wrong = s.Type != stubs.Duration
	case stubs.Rank:
		wrong = !s.Type.Integral()
	case stubs.Call, stubs.Cancel, stubs.Background:
	default:
		return malformed("effect %d is of the unknown kind %d", i, uint8(s.Effect))
	}
	if arrival := s.Effect == stubs.Rank || s.Effect == stubs.Background; arrival && on != stubs.Enqueue {
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

// stub checks which state stub a read names.
func (f *form) stub(r policy.Read) (list bool, err error) {
	if r.Stub > stubs.StateAverage {
		return false, malformed("there is no state stub %d", r.Stub)
	}
	if err := figure(r); err != nil {
		return false, err
	}
	if r.OfState() {
		trend := r.Stub != stubs.State
		if r.Key == "" || !scalar(r.Type) || trend && !r.Type.Numeric() || r.Stub == stubs.StateRate && r.Type != stubs.Float {
			return false, malformed("the state %q has the type %v", r.Key, r.Type)
		}
		return false, nil
	}
	stub := stubs.Catalogue[r.Stub]
	keyed := stub.Keyed
	if r.Pattern != "" {
		switch {
		case r.Stub == stubs.TaskSections:
			keyed = false
		case stub.Type == stubs.Name && !stub.Enum:
			stub.Type = stubs.Bool
		default:
			return false, malformed("%s is compared with a pattern", stub.Path)
		}
	}
	switch {
	case r.Type != stub.Type:
		return false, malformed("%s is read as a %v; it is a %v", stub.Path, r.Type, stub.Type)
	case r.Key != "" && !keyed:
		return false, malformed("%s is read with a key", stub.Path)
	case f.p.On&^stub.On != 0:
		return false, malformed("%s is not there on %v", stub.Path, f.p.On&^stub.On)
	}
	list = stub.Type == stubs.NameList
	if list && r.Words != 1+int(stub.Max) {
		return false, malformed("%s takes %d words; it has %d", stub.Path, r.Words, 1+stub.Max)
	}
	return list, nil
}

// figure checks the quantile and the window of a read.
func figure(r policy.Read) error {
	quantile := !r.OfState() && stubs.Catalogue[r.Stub].Quantile
	windowed := quantile || r.Stub > stubs.State
	switch {
	case quantile != (r.Quantile != 0), quantile && !(r.Quantile > 0 && r.Quantile < 1):
		return malformed("read %v has the quantile %v", r, r.Quantile)
	case windowed != (r.Window != 0), windowed && (r.Window < policy.MinWindow || r.Window > policy.MaxWindow):
		return malformed("read %v has the window %v", r, r.Window)
	}
	return nil
}
