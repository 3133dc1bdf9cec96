package document

import (
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
)

// readTenants reads tenants: {label: tenant, shares: {gold: 3}, max: 100}.
func (d *documentReader) readTenants(n *yaml.Node) error {
	t := policy.Tenants{Shares: map[string]int{}}
	most := int64(0)
	err := decodeMap(n, "tenants", []key{
		{name: "label", required: true, read: func(n *yaml.Node) error { return readString(n, &t.Label) }},
		{name: "shares", read: func(n *yaml.Node) error { return readShares(n, t.Shares) }},
		{name: "max", read: func(n *yaml.Node) error { return readAccounts(n, &most) }},
	})
	if err != nil {
		return err
	}
	t.Max = int(most)
	if err := t.Validate(); err != nil {
		return lineError(n, "%v", err)
	}
	d.doc.Tenants, d.doc.parts[Part{Kind: "tenants"}] = &t, declaration{node: n}
	return nil
}

func readAccounts(n *yaml.Node, to *int64) error {
	err := readInt(n, to)
	if err == nil && (*to < 1 || *to > policy.MaxTenants) {
		err = lineError(n, "a loop keeps 1 to %d accounts of tenants, and not %d; leave max out for 1024", policy.MaxTenants, *to)
	}
	return err
}

func readShares(n *yaml.Node, to map[string]int) error {
	if _, err := mapping(n, "shares"); err != nil {
		return err
	}
	for i := 0; i < len(n.Content); i += 2 {
		p, err := lang.ParsePattern(n.Content[i].Value)
		name, one := p.Name()
		if err != nil || !one {
			return lineError(n.Content[i], "the name of a tenant is not a pattern; name each tenant with a share, or write \\* for a star")
		}
		var share int64
		if err := readInt(n.Content[i+1], &share); err != nil {
			return err
		}
		if share < 1 || share > policy.MaxShare {
			return lineError(n.Content[i+1], "a share is 1 to %d, and this is %d", policy.MaxShare, share)
		}
		to[name] = int(share)
	}
	return nil
}

// orders are the ready-made orders of the queue by their names in documents.
var orders = map[string]func() policy.Spec{
	"fifo":     policy.FirstInFirstOut,
	"priority": policy.StrictPriority,
	"deadline": policy.EarliestDeadline,
	"shortest": policy.ShortestRemaining,
	"fair":     policy.FairShare,
}

// readOrder reads order: fair.
func (d *documentReader) readOrder(n *yaml.Node) error {
	var name string
	if err := readString(n, &name); err != nil {
		return err
	}
	order, ok := orders[name]
	if !ok {
		return lineError(n, "there is no order %q; want %s", name, strings.Join(slices.Sorted(maps.Keys(orders)), ", "))
	}
	return d.add(n, order(), "order")
}
