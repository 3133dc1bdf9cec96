package analyzer

import (
	"fmt"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// mingled warns of a state without keys that a policy sets by the figures of one name, or of one
// tenant: each task overwrites what a task of another name has written. A policy about one name
// alone means it, and so does one that keeps a maximum or a mean.
func (a *analysis) mingled() (all []Warning) {
	if a.p.ForEach() != 0 || len(a.declared.Tasks) == 1 && a.declared.Tasks[0] != "default" && !isPattern(a.declared.Tasks[0]) {
		return nil
	}
	writes := a.plainWrites()
	told := map[string]bool{}
	for _, n := range writes {
		site := a.p.Sites[n.Index]
		of, ok := a.figureOf([]condition{{n.A, true}})
		if !ok || site.Effect != stubs.Set || a.keeps(n) {
			of, ok = a.figureOf(a.apartBy(n, writes))
		}
		if !ok || told[site.Name] || a.groundsOf(append(conditionsOf(a.p.Root, n), condition{n.A, true})).about(namesTask) {
			continue
		}
		told[site.Name] = true
		key, each := "task.name", "name"
		if stubs.TenantName <= of.Stub && of.Stub <= stubs.TenantThrown {
			key, each = "tenant.name", "tenant"
		} else if a.p.On == stubs.Enqueue {
			key = "arriving.name"
		}
		all = append(all, Warning{a.p.Errorf(n, fmt.Sprintf("declare the state with keys, as in {first: %v, keys: 100}, and write %v(%q, %s, ...)", stubs.Value(0, site.Type), site.Effect, site.Name, key),
			"%v is about the tasks of one %s, and the state %s is one for all: a task of another %s overwrites it", of, each, site.Name, each)})
	}
	return all
}

// plainWrites returns the effects that set states without keys, or add to them.
func (a *analysis) plainWrites() (all []*ir.Node) {
	a.p.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpEffect && a.p.Sites[n.Index].By == nil && a.reached[n] {
			if effect := a.p.Sites[n.Index].Effect; effect == stubs.Set || effect == stubs.Add {
				all = append(all, n)
			}
		}
		return false
	})
	return all
}

// namesTask reports whether a read tells tasks apart by what they are called.
func namesTask(r ir.Read) bool { return r.Type == stubs.Name || r.Pattern != "" }

// figureOf returns a figure of one name, or of one tenant, that some conditions read.
func (a *analysis) figureOf(conds []condition) (of ir.Read, ok bool) {
	reads := a.groundsOf(conds).reads
	i := slices.IndexFunc(reads, func(r ir.Read) bool {
		return stubs.ClassTasks <= r.Stub && r.Stub <= stubs.ClassService || stubs.TenantName < r.Stub && r.Stub <= stubs.TenantThrown
	})
	if i < 0 {
		return of, false
	}
	return reads[i], true
}

// apartBy returns the conditions that decide between what an effect writes and what another effect
// writes in its place, if only figures decide that.
func (a *analysis) apartBy(n *ir.Node, writes []*ir.Node) (conds []condition) {
	mine := conditionsOf(a.p.Root, n)
	apart := func(conds, from []condition) bool { // by figures alone
		return !slices.ContainsFunc(conds, func(c condition) bool {
			_, figure := a.figureOf([]condition{c})
			return !figure && !slices.Contains(from, c)
		})
	}
	for _, other := range writes {
		alike := a.p.Sites[other.Index].Effect == a.p.Sites[n.Index].Effect && a.text(other.A) == a.text(n.A)
		if other == n || a.p.Sites[other.Index].Name != a.p.Sites[n.Index].Name || alike {
			continue
		}
		if theirs := conditionsOf(a.p.Root, other); apart(theirs, mine) && apart(mine, theirs) {
			conds = append(conds, theirs...)
		}
	}
	return conds
}

// keeps reports whether an effect computes a number from the state that it writes, or joins a
// condition to it.
func (a *analysis) keeps(n *ir.Node) bool {
	own := source{stubs.State, a.p.Sites[n.Index].Name}
	is := func(n *ir.Node) bool {
		n = a.named(n)
		return n != nil && n.Op == ir.OpRead && own.reads(a.reads[n.Index])
	}
	if x := a.named(n.A); x != nil && x.Type == stubs.Bool {
		return (x.Op == ir.OpOr || x.Op == ir.OpAnd) && (is(x.A) || is(x.B))
	}
	return a.groundsOf([]condition{{n.A, true}}).about(own.reads)
}
