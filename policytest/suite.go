package policytest

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// suite holds the policies under test.
type suite struct {
	policies   []*compiled
	registered map[string]any // states and their first values
	seed       uint64         // of chance(p)
}

// compiled is a policy, ready for both evaluators.
type compiled struct {
	spec    policy.Spec
	program *policy.Program
	module  *isolate.Module
	eval    *isolate.Evaluator
	keys    []string // of the program's reads, as in policy.Test.Given
	file    string
	doc     *policy.Document
	reached map[*policy.Node]bool
}

// newSuite loads the documents as a server does.
func newSuite(store *isolate.Store, tests *policy.Tests, file string) (*suite, error) {
	s := &suite{registered: map[string]any{}, seed: tests.Seed}
	states, safe := map[string]policy.State{}, map[string]bool{}
	for name, v := range tests.States {
		s.registered[name] = v
		states[name], _ = policy.StateOf(v)
	}
	for _, name := range tests.Safe {
		safe[name] = true
	}
	loaded := policy.NewLoaded(states, tests.Tenants, file)
	for _, name := range tests.Documents {
		path := beside(file, name)
		doc, err := read(path, func(f *os.File) (*policy.Document, error) { return policy.ReadDocument(f) })
		if err != nil {
			return nil, err
		}
		if refused := loaded.Add(path, doc); len(refused) > 0 {
			return nil, refused[0]
		}
		for name, v := range doc.States {
			s.registered[name] = v
		}
		for _, spec := range doc.Policies {
			c, err := compile(store, spec, loaded, safe)
			if err != nil {
				return nil, policy.InFile(doc.Refused(policy.Part{Kind: "policy", Name: spec.Name}, err), path)
			}
			c.file, c.doc = path, doc
			s.policies = append(s.policies, c)
		}
	}
	return s, nil
}

func compile(store *isolate.Store, spec policy.Spec, loaded *policy.Loaded, safe map[string]bool) (*compiled, error) {
	p, err := spec.Parse(loaded.States, safe)
	if err != nil {
		return nil, err
	}
	if stub := p.AboutTenants(); stub != "" && !loaded.Tenants {
		return nil, fmt.Errorf("it reads %s, and there are no tenants; write tenants: true into the tests if the server registers them", stub)
	}
	verified, err := analyzer.Verify(p, analyzer.Limits{Interval: spec.On.Interval})
	if err != nil {
		return nil, err
	}
	c := &compiled{spec: spec, program: p, reached: map[*policy.Node]bool{}}
	if c.module, err = store.Compile(verified); err != nil {
		return nil, err
	}
	if c.eval, err = c.module.NewEvaluator(); err != nil {
		return nil, err
	}
	for _, r := range p.Reads {
		c.keys = append(c.keys, r.String())
	}
	return c, nil
}

// reads refuses a figure with a quantile or a window that no policy reads, because each quantile
// and window is a separate figure.
func (s *suite) reads(path string, v any) error {
	if !strings.HasSuffix(path, ")") {
		return nil
	}
	_, typ, _ := stubs.Word(v)
	for _, c := range s.policies {
		i := slices.Index(c.keys, path)
		switch {
		case i < 0:
		case c.program.Reads[i].Type != typ:
			return fmt.Errorf("%s is of type %v, and %v is none", path, c.program.Reads[i].Type, v)
		default:
			return nil
		}
	}
	return fmt.Errorf("no policy reads %s; give the quantile and the window that one reads", path)
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
func branches(p *policy.Program) (all []*policy.Node) {
	for _, choice := range p.Choices {
		for _, side := range []*policy.Node{choice.B, choice.C} {
			if !slices.Contains(p.Choices, side) {
				all = append(all, side)
			}
		}
	}
	if len(all) == 0 {
		return []*policy.Node{p.Root}
	}
	slices.SortFunc(all, func(a, b *policy.Node) int { return a.Pos - b.Pos })
	return all
}
