package policy

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Change is one difference between two documents, or between a document and the policies in force.
type Change struct {
	Part    Part     `json:"part"`
	What    string   `json:"what"`              // "add", "change" or "remove"
	Details []string `json:"details,omitempty"` // of a change, as in "mode: observe -> enforce"
}

// String returns "+ policy "shed"", "~ policy "shed": mode: observe -> enforce" or "- policy
// "shed"".
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
// first, then tasks, tenants and policies, each in the order of their names.
func Diff(old, new *Document) (all []Change) {
	all = append(all, compared("state", old.States, new.States, func(a, b any) []string {
		return []string{stateDetails(a, b)}
	})...)
	all = append(all, compared("task", old.Tasks, new.Tasks, classDetails)...)
	all = append(all, compared("tenants", tenantsOf(old), tenantsOf(new), tenantDetails)...)
	all = append(all, compared("policy", specsOf(old), specsOf(new), specDetails)...)
	return append(all, reordered(old, new)...)
}

// reordered reports another order of the policies that both documents have: the order decides which
// throw comes first, and which rank counts.
func reordered(old, new *Document) []Change {
	was, is := commonNames(old, specsOf(new)), commonNames(new, specsOf(old))
	if slices.Equal(was, is) {
		return nil
	}
	return []Change{{Part{Kind: "policies"}, "change", []string{
		fmt.Sprintf("order: %s -> %s", strings.Join(was, ", "), strings.Join(is, ", ")),
	}}}
}

// commonNames returns the names of the document's policies that are among others, in its order.
func commonNames(d *Document, others map[string]Spec) (names []string) {
	for _, s := range d.Policies {
		if _, ok := others[s.Name]; ok {
			names = append(names, s.Name)
		}
	}
	return names
}

// stateDetails describes the effect of a reload on a state with a changed declaration.
func stateDetails(a, b any) string {
	x, _ := StateOf(a)
	y, _ := StateOf(b)
	switch {
	case x.Kind() != y.Kind():
		return fmt.Sprintf("%s %v -> %s %v; it starts again", x.Kind(), a, y.Kind(), b)
	case y.Begins(x) && y.Keys > 0:
		return fmt.Sprintf("%v -> %v; it starts again, without keys", a, b)
	case y.Begins(x):
		return fmt.Sprintf("%v -> %v, and gets that value", a, b)
	}
	return fmt.Sprintf("%v -> %v, and keeps its values", a, b)
}

// compared compares parts of one kind by their names.
func compared[T any](kind string, old, new map[string]T, details func(a, b T) []string) (all []Change) {
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
		case !reflect.DeepEqual(a, b):
			all = append(all, Change{part, "change", details(a, b)})
		}
	}
	return all
}

func tenantsOf(d *Document) map[string]Tenants {
	if d.Tenants == nil {
		return nil
	}
	return map[string]Tenants{"": *d.Tenants}
}

func specsOf(d *Document) map[string]Spec {
	specs := make(map[string]Spec, len(d.Policies))
	for _, s := range d.Policies {
		specs[s.Name] = s
	}
	return specs
}

// differences collects the differences of two parts.
type differences []string

func (d *differences) add(what string, a, b any) {
	if !reflect.DeepEqual(a, b) {
		*d = append(*d, fmt.Sprintf("%s: %v -> %v", what, shown(a), shown(b)))
	}
}

// shown writes a value for a difference; an unset value is "nothing".
func shown(v any) string {
	r := reflect.ValueOf(v)
	switch {
	case !r.IsValid(), r.IsZero(), r.Kind() == reflect.Map && r.Len() == 0, r.Kind() == reflect.Slice && r.Len() == 0:
		if r.IsValid() && (r.Kind() == reflect.Bool || r.Kind() == reflect.Uint8) { // false, and Enforce
			return fmt.Sprint(v)
		}
		return "nothing"
	case r.Kind() == reflect.Pointer:
		return fmt.Sprint(r.Elem())
	case r.Kind() == reflect.Map:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(asAny(r))) {
			parts = append(parts, fmt.Sprintf("%s: %v", k, asAny(r)[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case r.Kind() == reflect.Slice:
		var parts []string
		for i := range r.Len() {
			parts = append(parts, fmt.Sprint(r.Index(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(v)
}

func asAny(r reflect.Value) map[string]any {
	m := map[string]any{}
	for _, k := range r.MapKeys() {
		m[k.String()] = r.MapIndex(k)
	}
	return m
}

func classDetails(a, b Class) []string {
	var d differences
	d.add("kind", a.Kind, b.Kind)
	d.add("priority", a.Priority, b.Priority)
	d.add("labels", a.Labels, b.Labels)
	d.add("cost", a.Cost, b.Cost)
	return d.orOther()
}

func tenantDetails(a, b Tenants) []string {
	var d differences
	d.add("label", a.Label, b.Label)
	d.add("shares", a.Shares, b.Shares)
	d.add("max", a.Max, b.Max)
	return d.orOther()
}

func specDetails(a, b Spec) []string {
	var d differences
	d.add("every", a.On.Interval, b.On.Interval)
	d.add("on", a.On.Events.String(), b.On.Events.String())
	d.add("event", a.On.Custom, b.On.Custom)
	d.add("mode", a.Mode, b.Mode)
	d.add("force", a.Force, b.Force)
	d.add("match loops", a.Match.Loops, b.Match.Loops)
	d.add("match tasks", a.Match.Tasks, b.Match.Tasks)
	d.add("match except", a.Match.Except, b.Match.Except)
	d.add("match kinds", a.Match.Kinds, b.Match.Kinds)
	d.add("zone", a.Zone, b.Zone)
	d.add("state", a.State, b.State)
	if a.Expr != b.Expr {
		d = append(d, "expr:"+lineDiff(a.Expr, b.Expr))
	}
	return d.orOther()
}

// orOther reports a change that the list does not show.
func (d differences) orOther() []string {
	if len(d) == 0 {
		return []string{"another property has changed"}
	}
	return d
}

// maxDiff is the greatest number of lines that lineDiff compares one by one.
const maxDiff = 1000

// lineDiff compares two texts line by line: - marks a line of the first text, + one of the second.
func lineDiff(a, b string) string {
	x, y := strings.Split(strings.TrimRight(a, "\n"), "\n"), strings.Split(strings.TrimRight(b, "\n"), "\n")
	if len(x) > maxDiff || len(y) > maxDiff {
		return " another"
	}
	// common[i][j] is the length of the longest common subsequence of the lines x[i:] and y[j:].
	common := make([][]int, len(x)+1)
	for i := range common {
		common[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); x[i] == y[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out strings.Builder
	line := func(mark, text string) { fmt.Fprintf(&out, "\n      %s %s", mark, text) }
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			line(" ", x[i])
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && common[i+1][j] >= common[i][j+1]:
			line("-", x[i])
			i++
		default:
			line("+", y[j])
			j++
		}
	}
	return out.String()
}
