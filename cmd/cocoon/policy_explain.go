package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

func evaluated(on policy.Trigger, p *ir.Program) string {
	switch {
	case on.Interval == 0 && on.Custom != "":
		return fmt.Sprintf("on %v %q", on.Events, on.Custom)
	case on.Interval == 0:
		return "on " + on.Events.String()
	case on.Events != 0:
		return fmt.Sprintf("every %v, and on %v", on.Interval, on.Events)
	case p.ForEach()&stubs.Tick != 0:
		return fmt.Sprintf("every %v, for each running task", on.Interval)
	}
	return fmt.Sprintf("every %v, for each loop", on.Interval)
}

// matched describes a match, one part for each of its lists.
func matched(m policy.Match) (parts []string) {
	for _, of := range []struct {
		what string
		list []string
	}{{"loops", m.Loops}, {"tasks", m.Tasks}, {"except", m.Except}, {"kinds", m.Kinds}} {
		if len(of.list) > 0 {
			parts = append(parts, of.what+" "+strings.Join(of.list, ", "))
		}
	}
	return parts
}

// zone returns the time zone of a policy that reads the time of day, or "".
func zone(spec policy.Spec, p *ir.Program) string {
	if !slices.ContainsFunc(p.Reads, ir.Read.OfClock) {
		return ""
	}
	return cmp.Or(spec.Zone, "UTC")
}

// bracketed returns the conditions in which "and" stands next to "or" without brackets, with them.
func bracketed(p *ir.Program) (all []string) {
	p.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpOr {
			text := inBrackets(p, n)
			nested := slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, text) })
			if text != p.Text[n.Pos:n.End] && !nested {
				all = append(all, strings.Join(strings.Fields(text), " "))
			}
		}
		return false
	})
	return all
}

// inBrackets returns the text of an "or" with brackets around the "and"s among its operands.
func inBrackets(p *ir.Program, n *ir.Node) string {
	text := p.Text[n.Pos:n.End]
	switch {
	case n.A == nil || n.B == nil || n.A.End > n.B.Pos || n.B.End > n.End: // of a list, or not in the text at all
	case n.Op == ir.OpAnd && n.Pos == n.A.Pos && n.End == n.B.End:
		return "(" + text + ")"
	case n.Op == ir.OpOr:
		return p.Text[n.Pos:n.A.Pos] + inBrackets(p, n.A) + p.Text[n.A.End:n.B.Pos] + inBrackets(p, n.B) + p.Text[n.B.End:n.End]
	}
	return text
}

func reads(p *ir.Program) []string {
	var paths []string
	for _, r := range p.Reads {
		paths = append(paths, r.String())
	}
	return paths
}

func effects(p *ir.Program) []string {
	var all []string
	for _, s := range p.Sites {
		name := s.Effect.String() + "()"
		switch {
		case s.By != nil:
			name = fmt.Sprintf("%v(%q, %s)", s.Effect, s.Name, strings.Join(s.By.Texts(), ", "))
		case s.Name != "":
			name = fmt.Sprintf("%v(%q)", s.Effect, s.Name)
		}
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// buckets says how fast the buckets that the program takes from are filled. The rate of a bucket
// declared by -state is unknown.
func buckets(p *ir.Program, spec policy.Spec, states map[string]policy.State) (all []string) {
	own, _ := policy.StatesOf(spec.State) // Parse has checked them
	for _, site := range p.Sites {
		s, private := own[site.Name]
		if !private {
			s = states[site.Name]
		}
		if site.Effect != stubs.Take || s.Bucket.Burst == policy.MaxBurst {
			continue
		}
		b := s.Bucket
		text := fmt.Sprintf("%s: %v tokens a second, %v a minute, at most %v", site.Name, b.Rate, 60*b.Rate, b.Burst)
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// collectVerdicts lists the verdicts below n, each once, in source order.
func collectVerdicts(p *ir.Program, n *ir.Node, all *[]string) {
	if n == nil {
		return
	}
	if n.Op == ir.OpVerdict {
		d, reason := stubs.Decision(n.Imm), ""
		if d == stubs.Throw {
			reason = fmt.Sprintf("%q", p.Reasons[n.Index])
			if n.A != nil {
				reason += ", " + p.Text[n.A.Pos:n.A.End]
			}
		}
		if v := fmt.Sprintf("%v(%s)", d, reason); !slices.Contains(*all, v) {
			*all = append(*all, v)
		}
	}
	for _, operand := range []*ir.Node{n.A, n.B, n.C} {
		collectVerdicts(p, operand, all)
	}
}

func listed(items []string) string {
	if len(items) == 0 {
		return "nothing"
	}
	return strings.Join(items, ", ")
}
