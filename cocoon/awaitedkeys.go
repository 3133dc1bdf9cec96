package cocoon

import (
	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// awaitedKeys finds the names to await because policies read constant keys of a state, and other
// policies write the state by a label or by the name of an event. A key that a policy also writes as
// a constant is included: nothing asks for it. Guarded by regMu.
type awaitedKeys struct {
	read map[string]map[string]bool      // the constant keys, by state
	by   map[string]map[nameStub]ir.Read // the stubs with the names, by state
}

// nameStub is a stub that has a name: a label, or the event.
type nameStub struct {
	stub stubs.ID
	key  string
}

// add adds a policy, and returns the names to await from now on.
func (k *awaitedKeys) add(m analyzer.Member) (names []ir.Mention) {
	uses := m.KeyUses()
	if len(uses) == 0 {
		return nil
	}
	if k.read == nil {
		k.read, k.by = map[string]map[string]bool{}, map[string]map[nameStub]ir.Read{}
	}
	for _, u := range uses {
		switch {
		case !u.Writes && !k.read[u.State][u.Key]:
			put(k.read, u.State, u.Key, true)
			for _, stub := range k.by[u.State] {
				names = append(names, ir.Mention{Read: stub, Name: u.Key})
			}
		case u.Writes && isAwaited(u.By):
			of := nameStub{u.By.Stub, u.By.Key}
			if _, known := k.by[u.State][of]; known {
				continue
			}
			put(k.by, u.State, of, u.By)
			for key := range k.read[u.State] {
				names = append(names, ir.Mention{Read: u.By, Name: key})
			}
		}
	}
	return names
}

// put sets an entry of a map of maps.
func put[A, B comparable, V any](all map[A]map[B]V, a A, b B, v V) {
	if all[a] == nil {
		all[a] = map[B]V{}
	}
	all[a][b] = v
}
