package ir

import (
	"testing"

	"github.com/cocoon-go/cocoon/stubs"
)

// Related stubs can be compared, and are never less than 0, so that a bound of one bounds the
// other.
func TestRelations(t *testing.T) {
	seen := map[[2]stubs.ID]bool{}
	for _, r := range Relations {
		of, to := stubs.Catalogue[r.Of], stubs.Catalogue[r.To]
		switch {
		case r.Of == r.To || seen[[2]stubs.ID{r.Of, r.To}] || r.Why == "":
			t.Errorf("%s and %s: the relation is there twice, or has no reason", of.Path, to.Path)
		case of.Min != 0 || !of.Type.Integral():
			t.Errorf("%s is of type %v, %d or more", of.Path, of.Type, of.Min)
		case r.Kind == ZeroWhile && !to.Type.Integral() && to.Type != stubs.Name:
			t.Errorf("%s is of type %v, and cannot be empty", to.Path, to.Type)
		case r.Kind != ZeroWhile && to.Type != of.Type:
			t.Errorf("%s is of type %v, and %s of type %v", of.Path, of.Type, to.Path, to.Type)
		}
		seen[[2]stubs.ID{r.Of, r.To}] = true
	}
}
