package instrument

import "go/token"

// Kept is a stretch of a function in which the task is not unwound.
type Kept struct {
	Func string // such as "(*Regexp).run"
	Pos  token.Position
	Why  string
}

// Keeps returns the stretches of the package, as Rewrite returns it, in which a task is not unwound
// because the function has published a value and will write to it again, has a ticket for data that
// it must complete, has acquired a resource and not yet deferred its release, or has set a flag
// that it will reset. Arguments and errors are the same as for Rewrite.
func Keeps(p Package, o Options) (all []Kept, err error) {
	r, err := decided(p, o)
	if err != nil {
		return nil, err
	}
	for _, c := range r.codes {
		for _, k := range c.kept {
			all = append(all, Kept{c.name, r.set.Position(k.by.node.Pos()), k.why(r)})
		}
		all = append(all, r.keptLoose(c)...)
		all = append(all, r.keptFlags(c)...)
		for _, s := range append(c.entrusted(), c.fanned...) {
			all = append(all, Kept{c.name, r.set.Position(s.first.Pos()), s.by.why(r)})
		}
	}
	return all, nil
}
