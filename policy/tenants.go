package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// Tenants names the label that assigns tasks to tenants, and the tenants' shares.
type Tenants struct {
	Label  string         // the label that names a task's tenant; without it the tenant is ""
	Shares map[string]int // relative shares, 1 to MaxShare; 1 for a tenant not listed

	// Max is the greatest number of accounts that a loop keeps, because labels may come from
	// outside. Further tenants, except those in Shares, are counted together as "other". 0: 1024.
	Max int
}

// Bounds of Tenants.
const (
	MaxShare       = 1_000_000
	MaxTenants     = 1 << 16
	DefaultTenants = 1024 // accounts of a loop, if Max is 0
)

// Expected returns how many tenants the declaration speaks of: the number with shares, or Max.
func (t Tenants) Expected() int { return max(len(t.Shares), t.Max) }

// Accounts returns how many accounts a loop keeps, without the accounts of tenants with shares.
func (t Tenants) Accounts() int {
	if t.Max == 0 {
		return DefaultTenants
	}
	return t.Max
}

// Validate reports the first error in t.
func (t Tenants) Validate() error {
	if t.Label == "" {
		return errors.New("tenants: the label has no name")
	}
	if err := lang.CheckName("tenants: the label", t.Label); err != nil {
		return err
	}
	if t.Max < 0 || t.Max > MaxTenants {
		return fmt.Errorf("tenants: max is %d; want 1 to %d, or 0 for 1024", t.Max, MaxTenants)
	}
	if len(t.Shares) > MaxTenants {
		return fmt.Errorf("tenants: %d shares, and %d are allowed", len(t.Shares), MaxTenants)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Shares)) {
		if len(name) > stubs.MaxName {
			return fmt.Errorf("tenants: the name of a tenant has %d bytes, and %d are allowed", len(name), stubs.MaxName)
		}
		if s := t.Shares[name]; s < 1 || s > MaxShare {
			return fmt.Errorf("tenants: the share of %q is %d; want 1 to %d", name, s, MaxShare)
		}
	}
	return nil
}
