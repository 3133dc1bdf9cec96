package analyzer

import (
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/policy"
)

// unused returns warnings about names and private states without use.
func unused(p *policy.Program, private map[string]any) (all []Warning) {
	warn := func(n *policy.Node, hint, format string, args ...any) {
		all = append(all, Warning{p.Errorf(n, hint, format, args...)})
	}
	for _, n := range p.Unused {
		warn(n, "remove the let", "nothing uses %s", p.Text[n.Pos:n.End])
	}
	for _, name := range slices.Sorted(maps.Keys(private)) {
		state, err := policy.StateOf(private[name])
		if err != nil {
			continue
		}
		switch read, set := useOf(p, name); {
		case !read && !set:
			warn(p.Root, "remove it", "nothing uses the private state %s", name)
		case !read:
			warn(p.Root, "declare it among the states of the document or register it, if tasks or other policies are to read it",
				"the policy writes the private state %s, and nothing else can read it", name)
		case !set && !state.Parameter():
			warn(p.Root, "write set, add or take, or a constant in its place", "nothing writes the private state %s", name)
		}
	}
	return all
}

// useOf reports whether a program reads a state, and whether it writes it. A take does both.
func useOf(p *policy.Program, name string) (read, set bool) {
	for _, r := range p.Reads {
		read = read || r.OfState() && r.Key == name
	}
	for _, s := range p.Sites {
		set = set || s.Effect.Writes() && s.Name == name
	}
	return read, set
}
