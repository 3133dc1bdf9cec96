package cocoon

import (
	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
)

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
