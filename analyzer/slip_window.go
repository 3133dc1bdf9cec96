package analyzer

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
)

// nearWindows warns of two windows of one quantile, rate or average that are nearly the same: the
// two values hardly ever differ, so comparing both decides nothing, or contradicts itself.
func (a *analysis) nearWindows() {
	for i, r := range a.p.Reads {
		for _, o := range a.p.Reads[:i] {
			if !sameFigure(r, o) || !nearly(r.Window, o.Window) {
				continue
			}
			at := &ir.Node{Pos: r.Pos, End: min(r.Pos+len(r.String()), len(a.p.Text)), Type: r.Type}
			a.warn(at, "use one window; or make the longer one at least twice as long", "%v is hardly ever another value than %v: the windows %v and %v are nearly the same",
				r, o, r.Window, o.Window)
			return // one is enough
		}
	}
}

// sameFigure reports whether two reads differ at most in their windows.
func sameFigure(r, o ir.Read) bool {
	return r.Window > 0 && o.Window > 0 && r.Stub == o.Stub && r.Key == o.Key && r.Quantile == o.Quantile
}

// nearly reports whether two windows differ by less than a fifth, which is what a quantile may
// leave out of its window.
func nearly(a, b time.Duration) bool {
	return a != b && max(a, b)-min(a, b) < max(a, b)/5
}
