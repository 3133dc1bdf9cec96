package document

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/policy"
)

// stateDetails describes the effect of a reload on a state with a changed declaration.
func stateDetails(a, b any) string {
	x, _ := policy.StateOf(a)
	y, _ := policy.StateOf(b)
	kept := "value"
	if y.IsBucket() {
		kept = "tokens"
	}
	if y.Keys > 0 {
		kept = "keys"
	}
	was, is := declarations(a, b)
	switch {
	case !x.SameKind(y):
		return fmt.Sprintf("%s -> %s; it starts again", was, is)
	case y.Begins(x) && y.Keys > 0:
		return fmt.Sprintf("%s -> %s; it starts again, without keys", was, is)
	case y.Begins(x):
		return fmt.Sprintf("%s -> %s, and gets that value", was, is)
	}
	return fmt.Sprintf("%s -> %s, and keeps its %s", was, is, kept)
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
		// false, and Enforce
		if r.IsValid() && (r.Kind() == reflect.Bool || r.Kind() == reflect.Uint8) {
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

func classDetails(_ string, a, b Class) []string {
	var d differences
	d.add("kind", a.Kind, b.Kind)
	d.add("priority", a.Priority, b.Priority)
	d.add("labels", a.Labels, b.Labels)
	d.add("cost", a.Cost, b.Cost)
	return d
}

func tenantDetails(_ string, a, b policy.Tenants) []string {
	var d differences
	d.add("label", a.Label, b.Label)
	d.add("shares", a.Shares, b.Shares)
	d.add("max", a.Max, b.Max)
	return d
}

func specDetails(a, b policy.Spec) []string {
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
	d.add("zone", cmp.Or(a.Zone, "UTC"), cmp.Or(b.Zone, "UTC"))
	d = append(d, privateDetails(a.State, b.State)...)
	if a.Expr != b.Expr {
		d = append(d, "expr:"+lineDiff(a.Expr, b.Expr))
	}
	return d
}

// specText describes a new policy by its properties other than the usual ones, and its expression.
func specText(s policy.Spec) []string {
	expr := "expr:"
	for line := range strings.Lines(s.Expr) {
		expr += "\n      + " + strings.TrimRight(line, "\n")
	}
	return append(values(specDetails(policy.Spec{Expr: s.Expr}, s)), expr)
}

// values returns the new value of each difference only.
func values(d differences) (all []string) {
	for _, text := range d {
		name, both, _ := strings.Cut(text, ": ")
		_, is, _ := strings.Cut(both, " -> ")
		all = append(all, name+": "+is)
	}
	return all
}

// privateDetails describes the differences of the private states of a policy.
func privateDetails(a, b map[string]any) (d differences) {
	for _, c := range compared("state", a, b, func(string, any, any) []string { return nil }) {
		was, is := declarations(a[c.Part.Name], b[c.Part.Name])
		d = append(d, fmt.Sprintf("state %s: %s -> %s", c.Part.Name, was, is))
	}
	return d
}

// declarations writes two declarations of a state, as documents do; with the kinds, if they differ.
func declarations(a, b any) (was, is string) {
	x, _ := policy.StateOf(a)
	y, _ := policy.StateOf(b)
	text := func(v any, s policy.State) string {
		switch {
		case v == nil:
			return "nothing"
		case a != nil && b != nil && !x.SameKind(y):
			return fmt.Sprintf("%s %v", s.Kind(), v)
		}
		return fmt.Sprint(v)
	}
	return text(a, x), text(b, y)
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
