package analyzer

import (
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// unused returns warnings about names and private states without use.
func unused(p *ir.Program, private map[string]any) (all []Warning) {
	warn := func(n *ir.Node, hint, format string, args ...any) {
		all = append(all, Warning{p.Errorf(n, hint, format, args...)})
	}
	for _, n := range p.Unused {
		warn(n, "remove the let", "nothing uses %s", p.Text[n.Pos:n.End])
	}
	uses := usesIn(p)
	for _, name := range slices.Sorted(maps.Keys(private)) {
		state, err := policy.StateOf(private[name])
		if err != nil {
			continue
		}
		switch u := uses[name]; {
		case !u.read && !u.written:
			warn(p.Root, "remove it", "nothing uses the private state %s", name)
		case !u.read:
			warn(p.Root, "declare it among the states of the document or register it, if tasks or other policies are to read it",
				"the policy writes the private state %s, and nothing else can read it", name)
		case !u.written && !state.Parameter():
			warn(p.Root, "write set, add or take, or a constant in its place", "nothing writes the private state %s", name)
		case u.written && !u.changed(state):
			warn(p.Root, "set it to another value, too", "the policy gives the private state %s its first value and no other", name)
		}
	}
	return all
}

// usesIn returns how a program uses states. A take reads and writes.
func usesIn(p *ir.Program) map[string]use {
	uses := map[string]use{}
	for _, r := range p.Reads {
		if r.OfState() {
			u := uses[r.Key]
			u.read = true
			uses[r.Key] = u
		}
	}
	p.Root.Any(func(n *ir.Node) bool {
		if n.Op != ir.OpEffect && n.Op != ir.OpTake || !p.Sites[n.Index].Effect.Writes() {
			return false
		}
		site := p.Sites[n.Index]
		u := uses[site.Name]
		u.written = true
		if site.Effect == stubs.Set && n.A.Op == ir.OpConst {
			u.sets = append(u.sets, n.A.Imm)
		} else {
			u.otherwise = true
		}
		uses[site.Name] = u
		return false
	})
	return uses
}
