package policytest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// suite holds the policies under test.
type suite struct {
	policies    []*compiled
	loaded      *document.Loaded
	registered  map[string]any // states and their first values
	tasks       *lang.ByName[document.Class]
	seed        uint64 // of chance(p)
	maxFailures int    // errors in a row that switch a policy off
}

// compiled is a policy, ready for both evaluators.
type compiled struct {
	spec     policy.Spec
	selector *lang.Selector // of spec.Match; or nil
	program  *ir.Program
	module   *isolate.Module
	eval     *isolate.Evaluator
	keys     []string // of the program's reads, as in document.Test.Given
	file     string
	doc      *document.Document
	reached  map[*ir.Node]bool
}

func (c *compiled) observing() bool { return c.spec.Mode == policy.Observe }

// called returns the policy as its author wrote it. Tests name a policy that a limit, preemption or
// order makes by the name that they give it.
func (c *compiled) called() string {
	named := fmt.Sprintf("policy %q", c.spec.Name)
	called := c.doc.Called(c.spec.Name)
	if called == named {
		return named
	}
	line, _ := c.doc.Place(document.Part{Kind: "policy", Name: c.spec.Name})
	return fmt.Sprintf("%s:%d: %s (%s)", c.file, line, called, named)
}

// called returns the policy of a name as its author wrote it.
func (s *suite) called(name string) string {
	for _, c := range s.policies {
		if c.spec.Name == name {
			return c.called()
		}
	}
	return fmt.Sprintf("policy %q", name)
}

// refused returns an error about the policy with its place in the document.
func (c *compiled) refused(err error) error {
	return document.InFile(c.doc.Refused(document.Part{Kind: "policy", Name: c.spec.Name}, err), c.file)
}

// newSuite loads the documents as a server does.
func newSuite(store *isolate.Store, tests *document.Tests, file string) (*suite, error) {
	s := &suite{registered: map[string]any{}, seed: tests.Seed, maxFailures: tests.MaxFailures}
	states, safe := map[string]policy.State{}, map[string]bool{}
	for name, v := range tests.States {
		s.registered[name] = v
		states[name], _ = policy.StateOf(v)
	}
	for _, name := range tests.Safe {
		safe[name] = true
	}
	s.loaded = document.NewLoaded(states, safe, tests.Tenants, file)
	for _, name := range tests.Documents {
		path := documentPath(file, name)
		doc, err := read(path, func(f *os.File) (*document.Document, error) { return document.Read(f) })
		if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
			return nil, fmt.Errorf("%s: documents: %w", file, err)
		}
		if err != nil {
			return nil, err
		}
		if refused := s.loaded.Add(path, doc); len(refused) > 0 {
			return nil, refused[0]
		}
		for name, v := range doc.States {
			s.registered[name] = v
		}
		for _, spec := range doc.Policies {
			if tests.Mode != nil {
				spec.Mode = *tests.Mode
			}
			c := &compiled{spec: spec, selector: spec.Match.Selector(), file: path, doc: doc, reached: map[*ir.Node]bool{}}
			if err := c.compile(store, s.loaded); err != nil {
				return nil, c.refused(err)
			}
			s.policies = append(s.policies, c)
		}
	}
	s.tasks = lang.NewByName(s.loaded.Tasks)
	return s, nil
}

func (c *compiled) compile(store *isolate.Store, loaded *document.Loaded) (err error) {
	if c.program, err = c.spec.Parse(loaded.States, loaded.Safe); err != nil {
		return err
	}
	if stub := c.program.AboutTenants(); stub != "" && !loaded.Tenants {
		return fmt.Errorf("it reads %s, and there are no tenants; write tenants: true into the tests if the server registers them", stub)
	}
	verified, err := analyzer.Verify(c.program, analyzer.Limits{Interval: c.spec.On.Interval})
	if err != nil {
		return err
	}
	if c.module, err = store.Compile(verified); err != nil {
		return err
	}
	if c.eval, err = c.module.NewEvaluator(); err != nil {
		return err
	}
	for _, r := range c.program.Reads {
		c.keys = append(c.keys, r.String())
	}
	return nil
}

// reads refuses a figure with a quantile or a window that no policy reads, because each quantile
// and window is a separate figure.
func (s *suite) reads(path string, v any) error {
	if strings.HasSuffix(path, "]") {
		return s.readsLabel(path)
	}
	if !strings.HasSuffix(path, ")") {
		return s.readsStub(path)
	}
	_, typ, _ := stubs.Word(v)
	head, _, _ := strings.Cut(path, "(")
	var others []string
	for _, c := range s.policies {
		for i, key := range c.keys {
			switch r := c.program.Reads[i]; {
			case key == path && r.Type != typ:
				return fmt.Errorf("%s is of type %v, and %v is none", path, r.Type, v)
			case key == path:
				return nil
			case strings.HasPrefix(key, head+"(") && !slices.Contains(others, asGiven(head, r)):
				others = append(others, asGiven(head, r))
			}
		}
	}
	if len(others) == 0 {
		return fmt.Errorf("no policy reads %s, nor any %s", path, head)
	}
	return fmt.Errorf("no policy reads %s; write %s, as one reads it", path, strings.Join(others, " or "))
}

// asGiven writes a figure that a policy reads as files of tests do.
func asGiven(head string, r ir.Read) string {
	switch {
	case r.OfState():
		return fmt.Sprintf(`%s: {"%s, %v": ...}`, head, r.Key, r.Window)
	case r.Window == ir.DefaultWindow:
		return fmt.Sprintf(`%s: {%v: ...}`, head, r.Quantile)
	}
	return fmt.Sprintf(`%s: {"%v, %v": ...}`, head, r.Quantile, r.Window)
}

// Coverage is the set of branches of the documents' expressions that the tests reach: both sides of
// each choice, and the whole of an expression without a choice.
type Coverage struct {
	Branches int      `json:"branches"`
	Reached  int      `json:"reached"`
	Wanted   float64  `json:"wanted,omitempty"` // 0 to 1
	Missed   []Missed `json:"missed,omitempty"`
}

// Missed is a branch that no test reaches.
type Missed struct {
	Place  string `json:"place"` // FILE:LINE:COLUMN
	Policy string `json:"policy"`
	Text   string `json:"text"`
}

// Share returns the number of reached branches divided by the number of branches; 1 when there are
// no branches.
func (c Coverage) Share() float64 {
	if c.Branches == 0 {
		return 1
	}
	return float64(c.Reached) / float64(c.Branches)
}

func (c Coverage) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d branches reached, %.1f %%", c.Reached, c.Branches, 100*c.Share())
	if c.Share() >= c.Wanted {
		return b.String()
	}
	fmt.Fprintf(&b, ", and %g %% wanted", 100*c.Wanted)
	for _, m := range c.Missed {
		fmt.Fprintf(&b, "\n  %s: policy %q: never reached: %s", m.Place, m.Policy, m.Text)
	}
	return b.String()
}

// coverage returns the branches reached so far.
func (s *suite) coverage() (all Coverage) {
	for _, c := range s.policies {
		for _, arm := range branches(c.program) {
			line, col, ok := c.doc.PlaceIn(c.spec.Name, arm.Pos)
			if !ok {
				break // not written in the document
			}
			if all.Branches++; c.reached[arm] {
				all.Reached++
				continue
			}
			text := strings.Join(strings.Fields(c.program.Text[arm.Pos:arm.End]), " ")
			all.Missed = append(all.Missed, Missed{fmt.Sprintf("%s:%d:%d", c.file, line, col), c.spec.Name, text})
		}
	}
	return all
}

// branches returns the sides of all choices, in the order of the text. A side that is itself a
// choice, as after else if, does not count in addition to its own sides.
func branches(p *ir.Program) (all []*ir.Node) {
	for _, choice := range p.Choices {
		for _, side := range []*ir.Node{choice.B, choice.C} {
			if !slices.Contains(p.Choices, side) {
				all = append(all, side)
			}
		}
	}
	if len(all) == 0 {
		return []*ir.Node{p.Root}
	}
	slices.SortFunc(all, func(a, b *ir.Node) int { return a.Pos - b.Pos })
	return all
}
