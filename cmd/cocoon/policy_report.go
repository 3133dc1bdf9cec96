package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// report is what there is to say about one policy, or about a document that cannot be read. Its JSON form is for machines:
// names stay, others may be added.
type report struct {
	File      string    `json:"file,omitempty"`
	Policy    string    `json:"policy,omitempty"`
	Evaluated string    `json:"evaluated,omitempty"` // "every 100µs, for each running task"
	Mode      string    `json:"mode,omitempty"`
	Cost      int       `json:"cost,omitempty"` // steps at most; 0 when the policy is refused
	Limit     int       `json:"limit,omitempty"`
	Reads     []string  `json:"reads,omitempty"`
	Verdicts  []string  `json:"verdicts,omitempty"`
	Effects   []string  `json:"effects,omitempty"`
	Findings  []finding `json:"findings"`
}

// finding is an error or a warning. One about an expression has a place in it; one about a document has a line in that.
type finding struct {
	Severity string `json:"severity"` // "error" or "warning"
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Pos      int    `json:"pos"` // byte offsets in the expression
	End      int    `json:"end"`
	Reason   string `json:"reason"`
	Hint     string `json:"hint,omitempty"`
	story    string // with the place marked
}

func (r report) failed() bool {
	return slices.ContainsFunc(r.Findings, func(f finding) bool { return f.Severity == "error" })
}

// found makes a finding of an error: of a *policy.Error, with its place, or of one of policy.ReadDocument, with its line.
func found(severity string, err error) finding {
	var pe *policy.Error
	if !errors.As(err, &pe) {
		f := finding{Severity: severity, Reason: err.Error(), story: err.Error()}
		if at, reason, ok := strings.Cut(f.Reason, ": "); ok {
			if _, err := fmt.Sscanf(at, "document:%d", &f.Line); err == nil {
				f.Reason, f.story = reason, fmt.Sprintf("line %d: %s", f.Line, reason)
			}
		}
		return f
	}
	return finding{severity, pe.Line, pe.Col, pe.Pos, pe.End, pe.Reason, pe.Hint, fmt.Sprintf("%+v", pe)}
}

// reports looks at all policies. The error is about input that cannot be read at all.
func (c *policyCommand) reports(in io.Reader) ([]report, error) {
	if c.expr != nil {
		return []report{c.report("", *c.expr, c.states, c.tenants)}, nil
	}
	all := []report{}
	for _, file := range c.files {
		r, err := open(file, in)
		if err != nil {
			return nil, err
		}
		doc, err := policy.ReadDocument(r)
		r.Close()
		if err != nil {
			all = append(all, report{File: file, Findings: []finding{found("error", err)}})
			continue
		}
		states := maps.Clone(c.states)
		for name, value := range doc.States {
			_, states[name], _ = stubs.Word(value)
		}
		for _, spec := range doc.Policies {
			all = append(all, c.report(file, spec, states, c.tenants || doc.Tenants != nil))
		}
	}
	return all, nil
}

func open(file string, in io.Reader) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(in), nil
	}
	return os.Open(file)
}

// report parses and verifies one policy.
func (c *policyCommand) report(file string, spec policy.Spec, states map[string]stubs.Type, tenants bool) report {
	r := report{File: file, Policy: spec.Name, Limit: c.cost, Findings: []finding{}}
	p, err := spec.Parse(states, c.safe)
	if err != nil {
		r.Findings = append(r.Findings, found("error", err))
		return r
	}
	if stub := p.AboutTenants(); stub != "" && !tenants {
		err := fmt.Errorf("it reads %s, and the document has no tenants; write them, or say -tenants if the server registers them", stub)
		r.Findings = append(r.Findings, found("error", err))
		return r
	}
	v, err := analyzer.Verify(p, analyzer.Limits{Cost: c.cost, Interval: spec.On.Interval})
	if err != nil {
		r.Findings = append(r.Findings, found("error", err))
		return r
	}
	for _, w := range v.Warnings() {
		r.Findings = append(r.Findings, found("warning", w.Error))
	}
	r.Cost, r.Mode, r.Evaluated = v.Cost(), spec.Mode.String(), evaluated(spec.On, p)
	r.Reads, r.Effects = reads(p), effects(p)
	collectVerdicts(p, p.Root, &r.Verdicts)
	return r
}

func evaluated(on policy.Trigger, p *policy.Program) string {
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

func reads(p *policy.Program) []string {
	var paths []string
	for _, r := range p.Reads {
		path := "state." + r.Key
		if r.Stub != stubs.State {
			if path = stubs.Catalogue[r.Stub].Path; r.Key != "" {
				path += fmt.Sprintf("[%q]", r.Key)
			}
			if r.Pattern != "" {
				path += fmt.Sprintf(" in pattern(%q)", r.Pattern)
			}
		}
		paths = append(paths, path)
	}
	return paths
}

func effects(p *policy.Program) []string {
	var all []string
	for _, s := range p.Sites {
		name := s.Effect.String()
		if s.Name != "" {
			name += fmt.Sprintf("(%q)", s.Name)
		} else {
			name += "()"
		}
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// collectVerdicts lists the verdicts below n, each once, in the order of the text.
func collectVerdicts(p *policy.Program, n *policy.Node, all *[]string) {
	if n == nil {
		return
	}
	if n.Op == policy.OpVerdict {
		d, reason := stubs.Decision(n.Imm), ""
		if d == stubs.Throw {
			reason = fmt.Sprintf("%q", p.Reasons[n.Index])
		}
		if v := fmt.Sprintf("%v(%s)", d, reason); !slices.Contains(*all, v) {
			*all = append(*all, v)
		}
	}
	for _, operand := range []*policy.Node{n.A, n.B, n.C} {
		collectVerdicts(p, operand, all)
	}
}

// print writes the report for people: the findings, and with explain what the policy is.
func (r report) print(w io.Writer, explain bool) {
	if explain && r.Cost > 0 {
		fmt.Fprintf(w, "%s\n", r.title())
		line := func(what, text string) { fmt.Fprintf(w, "  %-10s %s\n", what, text) }
		line("evaluated", r.Evaluated)
		line("mode", r.Mode)
		line("cost", fmt.Sprintf("%d of %d steps at most", r.Cost, r.Limit))
		line("reads", listed(r.Reads))
		line("verdicts", listed(r.Verdicts))
		line("effects", listed(r.Effects))
	}
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%s: %s: %s\n", r.title(), f.Severity, strings.ReplaceAll(f.story, "\n", "\n  "))
	}
}

func (r report) title() string {
	switch {
	case r.File == "":
		return r.Policy
	case r.Policy == "":
		return r.File
	}
	return r.File + ": " + r.Policy
}

func listed(items []string) string {
	if len(items) == 0 {
		return "nothing"
	}
	return strings.Join(items, ", ")
}
