package cocoon

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// A canary is a document of which each changed policy has two versions in force: the new one for a
// cohort of the tasks, under a registration with a name of its own, and the old one for the rest.
// So each version has its own counters, states and mode, and the loops treat them as two policies.
// Only bound.takes tells them apart.

// planned is a policy that a change puts in force.
type planned struct {
	name string // of the registration
	Policy
	part *part           // nil: all tasks
	from *loadedDocument // that has its text
}

// baseOf returns the document that the rest keep while a canary runs that follows was.
func baseOf(was *loadedDocument) *loadedDocument {
	if was.canary != nil {
		return was.canary.base
	}
	return was
}

// newCanary returns the canary that the document declares, after was; nil if it declares none. A
// document without a predecessor applies to all tasks: the rest would have no policies at all,
// after a restart of the server not even those that did not change.
func newCanary(doc *document.Document, was *loadedDocument, tenants *tenantTable) (*canary, error) {
	base := baseOf(was)
	if doc.Canary == nil || base.isNew {
		return nil, nil
	}
	refuse := func(format string, args ...any) (*canary, error) {
		return nil, doc.Refused(document.Part{Kind: "canary"}, fmt.Errorf(format, args...))
	}
	if other, found := doc.NotOfCanary(base.source); found {
		what := map[string]string{"add": "adds", "change": "changes", "remove": "removes"}[other.What]
		return refuse("a canary changes policies only and may add states, and the document %s %v; load that without canary first", what, other.Part)
	}
	of := &cohort{limit: uint64(math.Ldexp(doc.Canary.Share, 63))}
	switch label, ok := strings.CutPrefix(doc.Canary.By, document.ByLabel); {
	case ok:
		of.by, of.label = byLabel, stubs.Intern(label)
	case doc.Canary.By == document.ByName:
		of.by = byName
	case doc.Canary.By == document.ByTenant && tenants == nil:
		return refuse("%w", errNoTenants)
	case doc.Canary.By == document.ByTenant:
		of.by, of.label = byLabel, tenants.label
	}
	return &canary{cohort: of, said: *doc.Canary, base: base, since: time.Now(), stop: make(chan struct{})}, nil
}

// plan returns the policies that the document puts in force, in the order of their evaluation.
func (d *loadedDocument) plan() (all []planned) {
	doc := d.source
	if d.canary == nil {
		for _, p := range doc.Policies {
			all = append(all, planned{p.Name, p, nil, d})
		}
		return all
	}
	rest, cohort := &part{of: d.canary.cohort}, &part{of: d.canary.cohort, new: true}
	base := d.canary.base
	for _, p := range doc.Policies {
		i := slices.IndexFunc(base.source.Policies, func(old Policy) bool { return old.Name == p.Name })
		if i >= 0 && reflect.DeepEqual(base.source.Policies[i], p) {
			all = append(all, planned{p.Name, p, nil, d})
			continue
		}
		if i >= 0 {
			all = append(all, planned{p.Name, base.source.Policies[i], rest, base})
		}
		all = append(all, planned{p.Name + canarySuffix, p, cohort, d})
	}
	for _, p := range base.source.Policies {
		if !slices.ContainsFunc(doc.Policies, func(q Policy) bool { return q.Name == p.Name }) {
			all = append(all, planned{p.Name, p, rest, base})
		}
	}
	return all
}

// changeCanary takes the canary of was out of force, and puts the canary of is in force. Called
// with regMu held, before the loops change over.
func (rt *Runtime) changeCanary(was, is *loadedDocument) {
	var all []*canary
	if now := rt.canaries.all.Load(); now != nil {
		all = slices.DeleteFunc(slices.Clone(*now), func(o *canary) bool { return o == was.canary })
	}
	if was.canary != nil {
		close(was.canary.stop)
	}
	if now := is.canary; now != nil {
		for _, v := range is.versions {
			if v.part != nil && v.part.new {
				now.versions = append(now.versions, v)
			}
		}
		all = append(all, now)
	}
	if rt.canaries.all.Store(nil); len(all) > 0 {
		rt.canaries.all.Store(&all)
	}
}
