package policytest

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// evaluation is the result of one policy for one event.
type evaluation struct {
	*compiled
	out ir.Outcome
	err error
}

// verdict writes the verdict as files of tests do.
func (ev evaluation) verdict() string {
	if ev.out.Decision == stubs.Throw {
		return document.ThrowText(ev.program.Reasons[ev.out.Reason], time.Duration(ev.out.Retry))
	}
	return ev.out.Decision.String() + "()"
}

// Failure is one difference between the expected and the actual result of a test.
type Failure struct {
	Place string `json:"place"` // FILE:LINE:COLUMN of the event
	Test  string `json:"test"`
	At    string `json:"at"`             // "10ms, on enqueue, the 3rd of 5"
	What  string `json:"what"`           // "the verdict is continue(); want throw(\"busy\")"
	Said  string `json:"said,omitempty"` // each policy's verdict, and its reads
}

func (f Failure) String() string {
	s := fmt.Sprintf("%s: %s: at %s: %s", f.Place, f.Test, f.At, f.What)
	if f.Said != "" {
		s += "\n" + f.Said
	}
	return s
}

// run runs one test. An error is about the test itself.
func (s *suite) run(test *document.Test, place func(line, col int) string) (failures []Failure, err error) {
	w := s.world(test)
	if err := w.give(test.Given, true); err != nil {
		return nil, err
	}
	for i := range test.Events {
		e := &test.Events[i]
		w.now, w.on, w.custom = e.At, e.On, e.Custom
		w.heard[e.Custom] = true
		if err := w.give(e.Given, false); err != nil {
			return nil, err
		}
		if err := s.hears(e.Custom); e.On == stubs.Custom && err != nil {
			return nil, &badTest{document.Placed{Line: e.Line, Col: e.Col}, err}
		}
		if err := cmp.Or(s.unknown(e.Want), s.says(e.Want.Counts), hollow(e.Want)); err != nil {
			return nil, &badTest{document.Placed{Line: e.Line, Col: e.Col}, err}
		}
		found, err := w.event(e)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			f.Place, f.Test = place(e.Line, e.Col), test.Name
			failures = append(failures, f)
		}
	}
	if len(failures) > 0 {
		return failures, nil
	}
	return nil, cmp.Or(w.idle(), s.unwritten(test.Events))
}

// badTest is an error about a value in the file of tests.
type badTest struct {
	at  document.Placed
	err error
}

func (b *badTest) Error() string { return b.err.Error() }

// event notifies the policies of an event, as often as it happens. It reports only the first
// unexpected repetition.
func (w *world) event(e *document.TestEvent) (failures []Failure, err error) {
	counts := map[bool]map[string]int{false: {}, true: {}} // by mode: whether it is observe
	var last []evaluation
	fail := func(i int, what string) {
		failures = append(failures, Failure{At: w.moment(e, i), What: what, Said: w.said(last)})
	}
	for i := range e.Times {
		w.now = e.At + time.Duration(i)*e.Every
		if last, err = w.tell(); err != nil {
			return nil, err
		}
		for observing, of := range counts {
			verdict, _ := together(last, observing)
			of[verdict]++
		}
		if len(failures) > 0 {
			continue
		}
		for _, what := range w.wrong(e.Want, last) {
			fail(i, what)
		}
	}
	what, err := w.wrongAtLast(e.Want, counts)
	for _, what := range what {
		fail(e.Times-1, what)
	}
	return failures, err
}

// moment describes when an event happens for the i-th time.
func (w *world) moment(e *document.TestEvent, i int) string {
	s := fmt.Sprintf("%v, on %s", w.now, e.On)
	if e.Custom != "" {
		s += " " + strconv.Quote(e.Custom)
	}
	if loop := w.loop(); loop != defaultLoop {
		s += fmt.Sprintf(" of loop %q", loop)
	}
	if e.Times > 1 {
		s += fmt.Sprintf(", time %d of %d", i+1, e.Times)
	}
	return s
}

// tell evaluates all policies that match the event, one after the other: each reads the states that
// the earlier ones have set. After a throw on enqueue, which refuses the task, it evaluates no more
// policies. An error is about a given value.
func (w *world) tell() (all []evaluation, err error) {
	var asked []*compiled
	absent := false // an observing policy would have refused the task
	for _, c := range w.suite.policies {
		if w.concerns(c) != "" {
			continue
		}
		asked = append(asked, c)
		if err := cmp.Or(w.impossible(c), w.unrelated(asked), w.otherTenant()); err != nil {
			return nil, err
		}
		ev := w.evaluate(c, absent && c.observing())
		all = append(all, ev)
		if refused := w.on == stubs.Enqueue && ev.out.Decision == stubs.Throw; refused && !c.observing() {
			break
		} else if refused {
			absent = true
		}
	}
	return all, nil
}

// evaluate evaluates a policy with both evaluators, and carries out its effects. It writes no states
// if the task is absent, because another policy would have refused it.
func (w *world) evaluate(c *compiled, absent bool) evaluation {
	w.fill(c)
	ev := evaluation{compiled: c}
	out, _, err := ir.Trace(c.program, c.eval.Snapshot(), func(n *ir.Node) { c.reached[n] = true })
	compiled, compiledErr := c.eval.Eval()
	switch {
	case fmt.Sprint(err) != fmt.Sprint(compiledErr):
		ev.err = fmt.Errorf("the evaluators differ: the interpreter ends with %v, the compiled policy with %v", err, compiledErr)
		return ev
	case err == nil && !agree(out, compiled):
		ev.err = fmt.Errorf("the evaluators differ: the interpreter says %+v, the compiled policy %+v", out, compiled)
		return ev
	case err == nil:
		err = w.act(c, out, absent)
	}
	if err != nil {
		ev.err = c.refused(c.program.Located(err))
		w.failed(c)
		return ev
	}
	w.failures[c] = 0
	ev.out = out
	return ev
}

// agree reports whether two outcomes are identical, bit for bit.
func agree(a, b ir.Outcome) bool {
	if a.Decision != b.Decision || a.Reason != b.Reason || a.Retry != b.Retry || a.Fired != b.Fired {
		return false
	}
	for i := range a.Values {
		if a.Fired&(1<<i) != 0 && a.Values[i] != b.Values[i] {
			return false
		}
	}
	return true
}

// together returns the verdict of all policies that enforce, or of all that observe, and the policy
// that gives it: the first throw, else the first switch.
func together(all []evaluation, observing bool) (verdict, by string) {
	verdict, gives := "continue()", stubs.Continue
	for _, ev := range all {
		d := ev.out.Decision
		if ev.observing() != observing {
			continue
		}
		if d == stubs.Throw || d == stubs.Switch && gives == stubs.Continue {
			verdict, by, gives = ev.verdict(), ev.spec.Name, d
		}
		if d == stubs.Throw {
			break
		}
	}
	return verdict, by
}
