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
	if len(a.declared.Tasks) == 1 && a.declared.Tasks[0] != "default" && !isPattern(a.declared.Tasks[0]) {
		return nil
	}
	var sets []*ir.Node
	a.p.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpEffect && a.p.Sites[n.Index].Effect == stubs.Set && a.p.Sites[n.Index].By == nil && a.reached[n] {
			sets = append(sets, n)
		}
		return false
	})
	told := map[string]bool{}
	for _, n := range sets {
		site := a.p.Sites[n.Index]
		of, ok := a.figureOf([]condition{{n.A, true}})
		if !ok && n.A.Op == ir.OpConst {
			of, ok = a.figureOf(a.apartBy(n, sets))
		}
		if !ok || told[site.Name] || a.p.ForEach() != 0 || a.groundsOf(append(conditionsOf(a.p.Root, n), condition{n.A, true})).about(namesTask) || a.keeps(n) {
			continue
		}
		told[site.Name] = true
		key, each := "task.name", "name"
		if stubs.TenantName <= of.Stub && of.Stub <= stubs.TenantThrown {
			key, each = "tenant.name", "tenant"
		} else if a.p.On == stubs.Enqueue {
			key = "arriving.name"
		}
		all = append(all, Warning{a.p.Errorf(n, fmt.Sprintf("declare the state with keys, as in {first: %v, keys: 100}, and write set(%q, %s, ...)", stubs.Value(0, site.Type), site.Name, key),
			"%v is about the tasks of one %s, and the state %s is one for all: a task of another %s overwrites it", of, each, site.Name, each)})
	}
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

// apartBy returns the conditions that decide between a constant which an effect gives its state and
// another one of another effect, if figures alone decide that.
func (a *analysis) apartBy(n *ir.Node, sets []*ir.Node) (conds []condition) {
	mine := conditionsOf(a.p.Root, n)
	apart := func(conds, from []condition) bool { // by figures alone
		return !slices.ContainsFunc(conds, func(c condition) bool {
			_, figure := a.figureOf([]condition{c})
			return !figure && !slices.Contains(from, c)
		})
	}
	for _, other := range sets {
		if a.p.Sites[other.Index].Name != a.p.Sites[n.Index].Name || other.A.Op != ir.OpConst || other.A.Imm == n.A.Imm {
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
