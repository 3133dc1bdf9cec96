package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
)

// report is the result for one policy, or for a document that cannot be read. Its JSON form is for
// programs: existing names do not change, and new ones may be added.
type report struct {
	File      string    `json:"file,omitempty"`
	Policy    string    `json:"policy,omitempty"`
	Line      int       `json:"line,omitempty"`      // where the document declares it
	Called    string    `json:"called,omitempty"`    // "policy \"shed\"", or "limit of \"regex.match\""
	Evaluated string    `json:"evaluated,omitempty"` // "every 100µs, for each running task"
	Mode      string    `json:"mode,omitempty"`
	Match     []string  `json:"match,omitempty"` // "tasks GET /*", "except GET /health"
	Zone      string    `json:"zone,omitempty"`  // of clock.*, if the policy reads it
	Means     []string  `json:"means,omitempty"` // conditions of "and" next to "or", with brackets
	Cost      int       `json:"cost,omitempty"`  // maximum steps; 0 if the policy is refused
	Limit     int       `json:"limit,omitempty"`
	Reads     []string  `json:"reads,omitempty"`
	Verdicts  []string  `json:"verdicts,omitempty"`
	Effects   []string  `json:"effects,omitempty"`
	Buckets   []string  `json:"buckets,omitempty"` // how fast they fill
	Findings  []finding `json:"findings"`
}

// finding is an error or a warning with its place, in the document or in the expression of -expr.
type finding struct {
	Severity string `json:"severity"` // "error" or "warning"
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Pos      int    `json:"pos"` // byte offsets in the expression
	End      int    `json:"end"`
	Reason   string `json:"reason"`
	Hint     string `json:"hint,omitempty"`
	story    string // FILE:LINE:COLUMN: error: ..., with the place marked
}

func (r report) failed() bool {
	return slices.ContainsFunc(r.Findings, func(f finding) bool { return f.Severity == "error" })
}

// found makes a finding from a *document.Error, an *ir.Error, or an error without a place.
func found(severity string, err error) finding {
	f := finding{Severity: severity, Reason: err.Error()}
	var pe *ir.Error
	if errors.As(err, &pe) {
		f.Line, f.Column, f.Pos, f.End, f.Reason, f.Hint = pe.Line, pe.Col, pe.Pos, pe.End, pe.Reason, pe.Hint
	}
	var de *document.Error
	switch {
	case errors.As(err, &de):
		f.Line, f.Column, f.Reason, f.Hint = de.Line, de.Col, de.Reason, de.Hint
		f.story = story(de.Where(), severity, de)
	case pe != nil:
		f.story = story(fmt.Sprintf("policy.expr:%d:%d", pe.Line, pe.Col), severity, pe)
	default:
		f.story = severity + ": " + f.Reason
	}
	return f
}

// story inserts the severity after the place.
func story(place, severity string, err error) string {
	return place + ": " + severity + strings.TrimPrefix(fmt.Sprintf("%+v", err), place)
}

// reports checks all policies. The note is about what it has left out; the error is for input that
// cannot be read at all.
func (c *checkCommand) reports(in io.Reader) (all []report, note string, err error) {
	if c.expr != nil {
		r, _ := c.report("", *c.expr, document.NewLoaded(c.states, c.safe, c.tenants, ""), nil)
		return []report{r}, "", nil
	}
	all = []report{}
	server := together{whole: true}
	on := document.NewLoaded(c.states, c.safe, c.tenants, "-state")
	for _, file := range c.files {
		doc, err := readDocument(file, in)
		var wrong *document.Error
		if errors.As(err, &wrong) {
			all = append(all, report{File: file, Findings: []finding{found("error", err)}})
			server.whole = false
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if twice := on.Add(file, doc); len(twice) > 0 {
			r := report{File: file}
			for _, err := range twice {
				r.Findings = append(r.Findings, found("error", err))
			}
			all = append(all, r)
			server.whole = false
		}
		server.documents = append(server.documents, loaded{file, doc})
		for _, spec := range doc.Policies {
			refused := func(err error) error {
				return document.InFile(doc.Refused(document.Part{Kind: "policy", Name: spec.Name}, err), file)
			}
			r, verified := c.report(file, spec, on, refused)
			r.Line, _ = doc.Place(document.Part{Kind: "policy", Name: spec.Name})
			r.Called = doc.Called(spec.Name)
			all = append(all, r)
			if server.whole = server.whole && !r.failed(); !r.failed() {
				server.members = append(server.members, analyzer.Member{Spec: spec, Verified: verified})
			}
		}
	}
	return append(all, server.reports()...), server.note(), nil
}

// readDocument reads a document, or the standard input if file is -. Its errors contain the file's
// name.
func readDocument(file string, in io.Reader) (*document.Document, error) {
	r, err := open(file, in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	doc, err := document.Read(r)
	if err != nil {
		return nil, document.InFile(err, file)
	}
	return doc, nil
}

func open(file string, in io.Reader) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(in), nil
	}
	return os.Open(file)
}

// report parses and verifies one policy. refused adds the place in a document to an error; it may
// be nil.
func (c *checkCommand) report(file string, spec policy.Spec, on *document.Loaded, refused func(error) error) (r report, v analyzer.Verified) {
	r = report{File: file, Policy: spec.Name, Limit: c.cost, Findings: []finding{}}
	find := func(severity string, err error) {
		if refused != nil {
			err = refused(err)
		}
		r.Findings = append(r.Findings, found(severity, err))
	}
	p, err := spec.Parse(on.States, on.Safe)
	if err != nil {
		find("error", err)
		return r, v
	}
	if stub := p.AboutTenants(); stub != "" && !on.Tenants {
		find("error", fmt.Errorf("it reads %s, and the document has no tenants; write them, or say -tenants if the server registers them", stub))
		return r, v
	}
	limits := analyzer.LimitsOf(spec)
	limits.Cost = c.cost
	v, err = analyzer.Verify(p, limits)
	if err != nil {
		find("error", err)
		return r, v
	}
	for _, w := range v.Warnings() {
		find("warning", w.Error)
	}
	r.Cost, r.Mode, r.Evaluated = v.Cost(), spec.Mode.String(), evaluated(spec.On, p)
	r.Match, r.Zone = matched(spec.Match), zone(spec, p)
	r.Means, r.Reads, r.Effects = bracketed(p), reads(p), effects(p)
	r.Buckets = buckets(p, spec, on.States)
	collectVerdicts(p, p.Root, &r.Verdicts)
	return r, v
}

// print writes the report as text: the findings and, for explain, a description of the policy.
func (r report) print(w io.Writer, explain bool) {
	if explain && r.Cost > 0 {
		fmt.Fprintf(w, "%s\n", r.title())
		line := func(what, text string) { fmt.Fprintf(w, "  %-10s %s\n", what, text) }
		if r.Called != "" && r.Called != fmt.Sprintf("policy %q", r.Policy) {
			line("name", r.Policy)
		}
		line("evaluated", r.Evaluated)
		line("mode", r.Mode)
		line("match", cmp.Or(strings.Join(r.Match, "; "), "everything"))
		if r.Zone != "" {
			line("zone", r.Zone)
		}
		for _, means := range r.Means {
			line("means", means)
		}
		line("cost", fmt.Sprintf("%d of %d steps at most", r.Cost, r.Limit))
		line("reads", listed(r.Reads))
		line("verdicts", listed(r.Verdicts))
		line("effects", listed(r.Effects))
		for _, bucket := range r.Buckets {
			line("bucket", bucket)
		}
	}
	for _, f := range r.Findings {
		fmt.Fprintln(w, f.story)
	}
}

// title returns the policy as its author wrote it: the place, and what the document calls it.
func (r report) title() string {
	switch {
	case r.File == "":
		return r.Policy
	case r.Policy == "":
		return r.File
	}
	return fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.Called)
}
