package document

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
)

// Change is one difference between two documents, or between a document and the policies in force.
type Change struct {
	Part    Part     `json:"part"`
	What    string   `json:"what"`              // "add", "change" or "remove"
	Details []string `json:"details,omitempty"` // as in "mode: observe -> enforce"; of a new policy or canary all that it has
}

// String returns "+ policy "shed"" with its text, "~ policy "shed": mode: observe -> enforce" or
// "- policy "shed"".
func (c Change) String() string {
	s := map[string]string{"add": "+ ", "change": "~ ", "remove": "- "}[c.What] + c.Part.String()
	switch {
	case len(c.Details) == 1:
		s += ": " + c.Details[0]
	case len(c.Details) > 1:
		s += ":\n    " + strings.Join(c.Details, "\n    ")
	}
	return s
}

// Diff returns the changes that a reload makes when the new document replaces the old: states
// first, then tasks, tenants, functions that are kept, the canary and policies, each in the order
// of their names. The policies of the old document are in force, except those named in off.
func Diff(old, new *Document, off map[string]bool) (all []Change) {
	all = append(all, compared("state", old.States, new.States, func(_ string, a, b any) []string {
		if reflect.DeepEqual(a, b) {
			return nil
		}
		return []string{stateDetails(a, b)}
	})...)
	all = append(all, writtenAs(compared("task", old.Tasks, new.Tasks, classDetails), old, new)...)
	all = append(all, compared("tenants", tenantsOf(old), tenantsOf(new), tenantDetails)...)
	all = append(all, compared("never-unwind", keptOf(old), keptOf(new), keptDetails)...)
	canaries := compared("canary", canaryOf(old), canaryOf(new), canaryDetails)
	if len(canaries) > 0 && canaries[0].What == "add" {
		canaries[0].Details = values(canaryDetails("", Canary{Share: -1}, *new.Canary))
	}
	all = append(all, canaries...)
	others := otherStates(old, new)
	specs := specsOf(new)
	policies := compared("policy", specsOf(old), specs, func(name string, a, b policy.Spec) []string {
		details := specDetails(old.written(a), new.written(b))
		if len(details) == 0 && !slices.Equal(a.Match.Except, b.Match.Except) {
			details = []string{fmt.Sprintf("%s: all tasks but %v -> all tasks but %v", Default, shown(a.Match.Except), shown(b.Match.Except))}
		}
		return append(details, restart(a, b, others, off[name])...)
	})
	for i := range policies {
		if c := &policies[i]; c.What == "add" {
			c.Details = specText(new.written(specs[c.Part.Name]))
		}
	}
	return append(append(all, policies...), reordered(old, new)...)
}

// otherStates returns the names of the states that a reload replaces: for the policies that refer
// to them they are other states.
func otherStates(old, new *Document) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(new.States)) {
		was, both := old.States[name]
		if !both {
			continue
		}
		x, _ := policy.StateOf(was)
		if y, _ := policy.StateOf(new.States[name]); !x.SameKind(y) || x.Bucket.Burst != y.Bucket.Burst {
			names = append(names, name)
		}
	}
	return names
}

// restart returns why a policy of both documents starts again, as far as its other changes do not
// show that. A policy with only another mode does not start again.
func restart(a, b policy.Spec, others []string, off bool) []string {
	name := lang.RefersTo(b.Expr, others)
	own := len(a.State) > 0 && len(b.State) > 0
	a.Mode = b.Mode
	switch changed := !reflect.DeepEqual(a, b); {
	case changed && own:
		return []string{"its private states start again"}
	case changed:
	case off:
		return []string{"it starts again, because it is not in force"}
	case name != "":
		return []string{fmt.Sprintf("it starts again, because the state %q has changed", name)}
	}
	return nil
}

// reordered reports another order of the policies that both documents have: the order decides which
// throw comes first, and which rank counts.
func reordered(old, new *Document) []Change {
	was, is := commonNames(old, specsOf(new)), commonNames(new, specsOf(old))
	if slices.Equal(was, is) {
		return nil
	}
	return []Change{{Part{Kind: "policies"}, "change", []string{
		fmt.Sprintf("evaluated in another order: %s -> %s", strings.Join(was, ", "), strings.Join(is, ", ")),
	}}}
}

// commonNames returns the names of the document's policies that specs also has, in the document's
// order.
func commonNames(d *Document, specs map[string]policy.Spec) (names []string) {
	for _, s := range d.Policies {
		if _, ok := specs[s.Name]; ok {
			names = append(names, s.Name)
		}
	}
	return names
}

// compared compares parts of one kind by their names; details returns nothing for equal ones.
func compared[T any](kind string, old, new map[string]T, details func(name string, a, b T) []string) (all []Change) {
	names := slices.Sorted(maps.Keys(old))
	for name := range new {
		if _, both := old[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		a, was := old[name]
		b, is := new[name]
		switch part := (Part{kind, name}); {
		case !was:
			all = append(all, Change{Part: part, What: "add"})
		case !is:
			all = append(all, Change{Part: part, What: "remove"})
		default:
			changes := details(name, a, b)
			if len(changes) == 0 && !reflect.DeepEqual(a, b) {
				changes = []string{"another property has changed"}
			}
			if len(changes) > 0 {
				all = append(all, Change{part, "change", changes})
			}
		}
	}
	return all
}

func tenantsOf(d *Document) map[string]policy.Tenants {
	if d.Tenants == nil {
		return nil
	}
	return map[string]policy.Tenants{"": *d.Tenants}
}

func specsOf(d *Document) map[string]policy.Spec {
	specs := make(map[string]policy.Spec, len(d.Policies))
	for _, s := range d.Policies {
		specs[s.Name] = s
	}
	return specs
}

// writtenAs returns changes of tasks with the name that the documents have for all other tasks:
// "*" or Default.
func writtenAs(changes []Change, docs ...*Document) []Change {
	for i := range changes {
		for _, d := range docs {
			if entry, ok := d.parts[changes[i].Part]; ok {
				changes[i].Part.Name = entry.node.Value
			}
		}
	}
	return changes
}

// written returns a policy with the match that the document has for it, which may name Default.
func (d *Document) written(s policy.Spec) policy.Spec {
	if m := d.parts[Part{"policy", s.Name}].match; m != nil {
		s.Match = *m
	}
	return s
}
