package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// stub checks the state stub of a read.
func (f *form) stub(r ir.Read) (list bool, err error) {
	switch {
	case r.Stub > stubs.Draw:
		return false, malformed("there is no state stub %d", r.Stub)
	case r.Taken > ir.TakenFloat || r.Taken != ir.TakenWhole && (r.Pattern != "" || r.Stub >= stubs.State):
		return false, malformed("%d cannot be taken of the state stub %d", r.Taken, r.Stub)
	}
	if err := figure(r); err != nil {
		return false, err
	}
	switch {
	case r.Stub == stubs.Draw && (r.Key == "" || r.Type != stubs.Float):
		return false, malformed("the draw %q is a %v", r.Key, r.Type)
	case r.Stub == stubs.Draw:
		return false, nil
	case r.OfState():
		return false, ofState(r)
	}
	return f.ofCatalogue(r)
}

// ofState checks the read of a state.
func ofState(r ir.Read) error {
	trend := r.Stub != stubs.State
	if r.Key == "" || !scalar(r.Type) || trend && !r.Type.Numeric() || r.Stub == stubs.StateRate && r.Type != stubs.Float {
		return malformed("the state %q has the type %v", r.Key, r.Type)
	}
	if r.Burst < 0 || r.Burst > 0 && (trend || r.Type != stubs.Float) {
		return malformed("the state %q has the type %v, and holds %v tokens", r.Key, r.Type, r.Burst)
	}
	return nil
}

// ofCatalogue checks the read of a stub of the catalogue.
func (f *form) ofCatalogue(r ir.Read) (list bool, err error) {
	stub := stubs.Catalogue[r.Stub]
	if r.By != nil || r.Burst != 0 {
		return false, malformed("%s is read as a keyed state or a bucket", stub.Path)
	}
	of, keyed, err := readAs(r)
	switch {
	case err != nil:
		return false, err
	case r.Type != of:
		return false, malformed("%s is read as a %v; it is a %v", stub.Path, r.Type, of)
	case r.Key != "" && !keyed:
		return false, malformed("%s is read with a key", stub.Path)
	case f.p.On&^stub.On != 0:
		return false, malformed("%s is not there on %v", stub.Path, f.p.On&^stub.On)
	}
	list = of == stubs.NameList
	if list && r.Words != 1+int(stub.Max) {
		return false, malformed("%s takes %d words; it has %d", stub.Path, r.Words, 1+stub.Max)
	}
	return list, nil
}

// readAs returns the type of a read of the catalogue, and whether it has a key. A pattern, or what
// is taken of a text, replaces the name.
func readAs(r ir.Read) (of stubs.Type, keyed bool, err error) {
	stub := stubs.Catalogue[r.Stub]
	name := stub.Type == stubs.Name && !stub.Enum
	switch {
	case r.Pattern != "" && r.Stub == stubs.TaskSections:
		return stub.Type, false, nil
	case r.Pattern != "" && !name:
		return of, false, malformed("%s is compared with a pattern", stub.Path)
	case r.Pattern != "":
		return stubs.Bool, stub.Keyed, nil
	case r.Taken != ir.TakenWhole && !name:
		return of, false, malformed("%s has no text", stub.Path)
	case r.Taken == ir.TakenFloat:
		return stubs.Float, stub.Keyed, nil
	case r.Taken != ir.TakenWhole:
		return stubs.Int, stub.Keyed, nil
	}
	return stub.Type, stub.Keyed, nil
}
