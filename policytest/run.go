package policytest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// evaluation is the result of one policy for one event.
type evaluation struct {
	*compiled
	out stubs.Outcome
	err error
}

func (ev evaluation) verdict() string {
	if ev.out.Decision == stubs.Throw {
		return policy.ThrowText(ev.program.Reasons[ev.out.Reason], time.Duration(ev.out.Retry))
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
func (s *suite) run(test *policy.Test, place func(line, col int) string) (failures []Failure, bad *badTest) {
	w := s.world()
	if err := w.give(test.Given); err != nil {
		return nil, &badTest{test.Line, test.Col, err}
	}
	for i := range test.Events {
		e := &test.Events[i]
		w.now = e.At
		if err := w.give(e.Given); err != nil {
			return nil, &badTest{e.Line, e.Col, err}
		}
		found, err := w.event(e)
		if err != nil {
			return nil, &badTest{e.Line, e.Col, err}
		}
		for _, f := range found {
			f.Place, f.Test = place(e.Line, e.Col), test.Name
			failures = append(failures, f)
		}
	}
	return failures, nil
}

// badTest is an error of the file of tests.
type badTest struct {
	line, col int
	err       error
}

func (b *badTest) Error() string { return b.err.Error() }

// event notifies the policies of an event, as often as it happens. It reports only the first
// unexpected repetition.
func (w *world) event(e *policy.TestEvent) (failures []Failure, err error) {
	counts := map[string]int{}
	var last []evaluation
	moment := func(i int) string {
		s := fmt.Sprintf("%v, on %s", w.now, e.On)
		if e.Custom != "" {
			s += " " + strconv.Quote(e.Custom)
		}
		if e.Times > 1 {
			s += fmt.Sprintf(", time %d of %d", i+1, e.Times)
		}
		return s
	}
	fail := func(i int, format string, args ...any) {
		failures = append(failures, Failure{At: moment(i), What: fmt.Sprintf(format, args...), Said: w.said(e, last)})
	}
	for i := range e.Times {
		w.now = e.At + time.Duration(i)*e.Every
		last = w.tell(e)
		verdict, by := together(last)
		counts[verdict]++
		if len(failures) > 0 {
			continue
		}
		for _, what := range w.wrong(e.Want, last, verdict, by) {
			fail(i, "%s", what)
		}
	}
	for verdict, want := range e.Want.Counts {
		if counts[verdict] != want {
			fail(e.Times-1, "%s is said %d times; want %d", verdict, counts[verdict], want)
		}
	}
	for name, want := range e.Want.States {
		wrong, err := w.wrongState(name, want)
		if err != nil {
			return nil, err
		}
		for _, what := range wrong {
			fail(e.Times-1, "%s", what)
		}
	}
	slices.SortStableFunc(failures, func(a, b Failure) int { return strings.Compare(a.What, b.What) })
	return failures, nil
}

// tell evaluates all policies that match an event, one after the other: each reads the states that
// the earlier ones have set. After a throw on enqueue, which refuses the task, it evaluates no more
// policies.
func (w *world) tell(e *policy.TestEvent) (all []evaluation) {
	for _, c := range w.suite.policies {
		if w.concerns(c, e.On, e.Custom) != "" {
			continue
		}
		ev := w.evaluate(c)
		if all = append(all, ev); e.On == stubs.Enqueue && ev.out.Decision == stubs.Throw {
			break
		}
	}
	return all
}

// evaluate evaluates a policy with both evaluators, and carries out its effects.
func (w *world) evaluate(c *compiled) evaluation {
	w.fill(c)
	ev := evaluation{compiled: c}
	out, _, err := policy.Trace(c.program, c.eval.Snapshot(), func(n *policy.Node) { c.reached[n] = true })
	compiled, compiledErr := c.eval.Eval()
	switch {
	case fmt.Sprint(err) != fmt.Sprint(compiledErr):
		ev.err = fmt.Errorf("the evaluators differ: the interpreter ends with %v, the compiled policy with %v", err, compiledErr)
		return ev
	case err != nil:
		ev.err = err
		return ev
	case !agree(out, compiled):
		ev.err = fmt.Errorf("the evaluators differ: the interpreter says %+v, the compiled policy %+v", out, compiled)
	}
	if err := w.act(c, out); err != nil {
		ev.err = err
		return ev
	}
	ev.out = out
	return ev
}

// agree reports whether two outcomes are identical, bit for bit.
func agree(a, b stubs.Outcome) bool {
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

// together returns the verdict of all policies, and the policy that gives it: the first throw, else
// the first switch.
func together(all []evaluation) (verdict, by string) {
	verdict, gives := "continue()", stubs.Continue
	for _, ev := range all {
		d := ev.out.Decision
		if d == stubs.Throw || d == stubs.Switch && gives == stubs.Continue {
			verdict, by, gives = ev.verdict(), ev.spec.Name, d
		}
		if d == stubs.Throw {
			break
		}
	}
	return verdict, by
}

// wrong compares one repetition with the expectations for each.
func (w *world) wrong(want policy.TestWant, all []evaluation, verdict, by string) (what []string) {
	var effects, asked []string
	erred := ""
	for _, ev := range all {
		asked = append(asked, ev.spec.Name)
		if want.Effects != nil {
			effects = append(effects, w.effectsOf(ev.compiled, ev.out)...)
		}
		if ev.err != nil && erred == "" {
			erred = fmt.Sprintf("policy %q errs: %v", ev.spec.Name, ev.err)
		}
	}
	switch {
	case want.Asked != nil && !slices.Equal(asked, *want.Asked):
		return []string{fmt.Sprintf("the policies that are asked are [%s]; want [%s]", strings.Join(asked, ", "), strings.Join(*want.Asked, ", "))}
	case want.Asked == nil && len(asked) == 0 && want.Any():
		return []string{"no policy is asked; if none should be, expect asked: []"}
	case want.Error == "" && erred != "":
		return []string{erred}
	case want.Error != "" && !strings.Contains(erred, want.Error):
		return []string{fmt.Sprintf("no evaluation errs with %q", want.Error)}
	}
	if want.Verdict != nil && verdict != *want.Verdict {
		what = append(what, fmt.Sprintf("the verdict is %s; want %s", verdict, *want.Verdict))
	} else if want.Policy != "" && want.Policy != by {
		what = append(what, fmt.Sprintf("the verdict %s is of policy %q; want policy %q", verdict, by, want.Policy))
	}
	if want.Effects != nil && !slices.EqualFunc(effects, *want.Effects, same) {
		what = append(what, fmt.Sprintf("the effects are [%s]; want [%s]", strings.Join(effects, ", "), strings.Join(*want.Effects, ", ")))
	}
	return what
}

// said returns the verdict and the reads of each policy, or, if no policy was evaluated, the
// reason.
func (w *world) said(e *policy.TestEvent, all []evaluation) string {
	var lines []string
	for _, ev := range all {
		said := append([]string{ev.verdict()}, w.effectsOf(ev.compiled, ev.out)...)
		lines = append(lines, fmt.Sprintf("  policy %q says %s", ev.spec.Name, strings.Join(said, ", ")))
		for _, saw := range w.saw(ev.compiled) {
			lines = append(lines, "    "+saw)
		}
	}
	if len(all) == 0 {
		for _, c := range w.suite.policies {
			lines = append(lines, fmt.Sprintf("  policy %q is not asked: %s", c.spec.Name, w.concerns(c, e.On, e.Custom)))
		}
	}
	return strings.Join(lines, "\n")
}
