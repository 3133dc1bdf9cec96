package vet

import (
	"errors"
	"fmt"
	"go/ast"
	"maps"

	"golang.org/x/tools/go/analysis"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// checkText checks an expression, if it is constant. private are its private states; open says that
// it may have others.
func (c *specCheck) checkText(e ast.Expr, on trigger, private map[string][]shape, open bool) {
	e = c.follow(e)
	text, ok := c.text(e)
	if !ok {
		for _, other := range c.alternatives(e) {
			if _, ok := c.text(other); ok {
				c.checkText(other, on, private, open)
			}
		}
		return
	}
	r := reader{text: text, limits: analyzer.Limits{Interval: on.Interval, Match: on.match, Custom: on.Custom}, registered: c.registered}
	r.states = maps.Clone(r.states)
	maps.Copy(r.states, private)
	r.allStates = r.allStates && !open
	found, verified := r.read(on)
	if found != nil {
		c.reportText(e, "", found.Error)
	}
	for _, w := range verified.Warnings() {
		c.reportText(e, "questionable: ", w.Error)
	}
}

// reportText reports an error at its place in the text of e.
func (c *specCheck) reportText(e ast.Expr, prefix string, found *ir.Error) {
	message := prefix + found.Reason
	if found.Hint != "" {
		message += "; " + found.Hint
	}
	if !c.placed(e, found.Pos) {
		message = fmt.Sprintf("%d:%d of the text: ", found.Line, found.Col) + message
	}
	pos, _ := c.place(e, found.Pos)
	_, end := c.place(e, max(found.Pos, found.End-1))
	report(c.pass, analysis.Diagnostic{Pos: pos, End: end, Message: message})
}

// reader parses and verifies one expression for every possible combination of notifications and
// types of states. Only an error in all combinations is certainly an error.
type reader struct {
	registered
	text   string
	limits analyzer.Limits
}

// fault is an error of one combination.
type fault struct {
	*ir.Error
	parsed bool // found by the verifier, not by the parser
}

// maxGuesses bounds the number of states with guessed types in one expression, because the
// combinations multiply.
const maxGuesses = 3

// read returns an error if all combinations have one. If there is only one combination, it returns
// the verified program, which has warnings.
func (r *reader) read(on trigger) (found *fault, verified analyzer.Verified) {
	env := lang.Env{Funcs: r.funcs}
	for name, shapes := range r.states {
		if len(shapes) == 1 {
			env = shapes[0].in(env, name)
		}
	}
	found = inAll(on.on, func(events stubs.Event) (found *fault) {
		env.On = events
		found, verified = r.readIn(env, maxGuesses)
		return found
	})
	if len(on.on) > 1 {
		verified = analyzer.Verified{}
	}
	return found, verified
}

// readIn is read for one set of notifications.
func (r *reader) readIn(env lang.Env, guesses int) (*fault, analyzer.Verified) {
	verified, found := r.judge(env)
	switch {
	case found == nil:
		return nil, verified
	case found.NoFunc != "" && !r.allFuncs:
		env.Funcs = maps.Clone(env.Funcs)
		env.Funcs[found.NoFunc] = true
		return r.readIn(env, guesses)
	case found.NoState != "" && len(r.possible(found.NoState)) > 0:
		if guesses == 0 {
			return nil, verified
		}
		return inAll(r.possible(found.NoState), func(s shape) *fault {
			found, _ := r.readIn(s.in(env, found.NoState), guesses-1)
			return found
		}), verified
	}
	return found, verified
}

// possible returns what a state can be of which it is not known.
func (r *reader) possible(state string) []shape {
	if shapes := r.states[state]; len(shapes) > 0 || r.allStates {
		return shapes
	}
	return anyShape
}

// judge does the same as the registration of a policy.
func (r *reader) judge(env lang.Env) (verified analyzer.Verified, found *fault) {
	program, err := lang.Parse(r.text, env)
	parsed := err == nil
	if parsed {
		verified, err = analyzer.Verify(program, r.limits)
	}
	if err == nil {
		return verified, nil
	}
	found = &fault{parsed: parsed}
	if !errors.As(err, &found.Error) {
		found.Error = &ir.Error{Text: r.text, End: len(r.text), Reason: err.Error()}
	}
	return verified, found
}

// inAll returns nil if one of the cases has no fault. Otherwise it returns the fault of the case
// that came furthest, which is most likely what the author meant.
func inAll[T any](cases []T, read func(T) *fault) (furthest *fault) {
	for _, c := range cases {
		found := read(c)
		if found == nil {
			return nil
		}
		if furthest == nil || found.beyond(furthest) {
			furthest = found
		}
	}
	return furthest
}

// beyond reports whether the parser or the verifier came further than with other.
func (f *fault) beyond(other *fault) bool {
	if f.parsed != other.parsed {
		return f.parsed
	}
	return f.Pos > other.Pos
}
