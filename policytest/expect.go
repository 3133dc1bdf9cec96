package policytest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/policy/document"
)

// unknown returns an error about the name of a policy that no document has.
func (s *suite) unknown(want document.TestWant) error {
	names := []string{want.Policy}
	if want.Observed != nil {
		names = append(names, want.Observed.Policy)
	}
	for _, list := range []*[]string{want.Asked, want.Off} {
		if list != nil {
			names = append(names, *list...)
		}
	}
	for _, name := range names {
		if name != "" && !slices.ContainsFunc(s.policies, func(c *compiled) bool { return c.spec.Name == name }) {
			return fmt.Errorf("the documents have no policy %q", name)
		}
	}
	return nil
}

// wrong compares one repetition of an event with the expectations for each.
func (w *world) wrong(want document.TestWant, all []evaluation) (what []string) {
	var asked []string
	erred := ""
	for _, ev := range all {
		asked = append(asked, ev.spec.Name)
		if ev.err != nil && erred == "" {
			erred = fmt.Sprintf("an evaluation errs: %v", ev.err)
		}
	}
	switch {
	case want.Asked != nil && !slices.Equal(asked, *want.Asked):
		return []string{fmt.Sprintf("the policies that are asked are %s; want %s", list(asked), list(*want.Asked))}
	case want.Asked == nil && len(asked) == 0 && want.Any():
		return []string{"no policy is asked; if none should be, expect asked: []"}
	case want.Error == "" && erred != "":
		return []string{erred}
	case want.Error != "" && !strings.Contains(erred, want.Error):
		return []string{fmt.Sprintf("no evaluation errs with %q", want.Error)}
	}
	if why := cmp.Or(vacuous(want, all), w.unsuspended(want, all)); why != "" {
		return []string{why}
	}
	what = w.wrongDecision(want.TestDecision, all, false)
	if want.Observed != nil {
		what = append(what, w.wrongDecision(*want.Observed, all, true)...)
	}
	return what
}

func list(names []string) string { return "[" + strings.Join(names, ", ") + "]" }

// wrongDecision compares the decision of the enforcing policies, or of the observing ones, with the
// expectation.
func (w *world) wrongDecision(want document.TestDecision, all []evaluation, observing bool) (what []string) {
	verdict, by := together(all, observing)
	would, observer := together(all, true)
	switch {
	case want.Verdict != nil && verdict != *want.Verdict:
		what = append(what, fmt.Sprintf("the %sverdict is %s; want %s", observed(observing), verdict, *want.Verdict))
		if !observing && observer != "" && would == *want.Verdict {
			what[0] += fmt.Sprintf("; %s says so in mode observe: expect observed: ..., or write mode: enforce at the top of this file", w.suite.called(observer))
		}
	case want.Policy != "" && by == "":
		what = append(what, fmt.Sprintf("every policy says continue(); want a verdict of policy %q", want.Policy))
	case want.Policy != "" && want.Policy != by:
		what = append(what, fmt.Sprintf("the %sverdict %s is of %s; want policy %q", observed(observing), verdict, w.suite.called(by), want.Policy))
	}
	if want.Effects == nil {
		return what
	}
	var effects []string
	for _, ev := range all {
		if ev.observing() == observing {
			effects = append(effects, w.effectsOf(ev.compiled, ev.out)...)
		}
	}
	if !slices.EqualFunc(effects, *want.Effects, same) {
		what = append(what, fmt.Sprintf("the %seffects are %s; want %s", observed(observing), list(effects), list(*want.Effects)))
	}
	return what
}

// observed is the adjective of what policies in mode observe decide.
func observed(observing bool) string {
	if observing {
		return "observed "
	}
	return ""
}

// wrongAtLast compares what is expected after the last repetition of an event: the number of each
// verdict, the states, and the policies out of force. counts is by mode.
func (w *world) wrongAtLast(want document.TestWant, counts map[bool]map[string]int) (what []string, err error) {
	decisions := map[bool]*document.TestDecision{false: &want.TestDecision, true: want.Observed}
	for _, observing := range []bool{false, true} {
		d := decisions[observing]
		if d == nil {
			continue
		}
		for verdict, want := range d.Counts {
			if n := counts[observing][verdict]; n != want {
				what = append(what, fmt.Sprintf("%s is %ssaid %d times; want %d; %s", verdict, map[bool]string{true: "only observed, and "}[observing], n, want,
					tally(counts[observing])))
			}
		}
		for name, want := range d.States {
			wrong, err := w.wrongState(name, want.Value, observing)
			if err = cmp.Or(err, w.mentions(name, want.Value)); err != nil {
				return nil, &badTest{want, err}
			}
			w.claims(name, want, true)
			what = append(what, wrong...)
		}
	}
	if want.Off != nil {
		out := []string{}
		for c := range w.out {
			out = append(out, c.spec.Name)
		}
		slices.Sort(out)
		if wanted := slices.Sorted(slices.Values(*want.Off)); !slices.Equal(out, wanted) {
			what = append(what, fmt.Sprintf("the policies that are off are %s; want %s", list(out), list(wanted)))
		}
	}
	slices.Sort(what)
	return what, nil
}

// tally lists how often each verdict was said.
func tally(counts map[string]int) string {
	var parts []string
	for _, verdict := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d times", verdict, counts[verdict]))
	}
	return "the policies say " + strings.Join(parts, ", ")
}

// said returns the verdict and the reads of each policy, or, if no policy was evaluated, the
// reason.
func (w *world) said(all []evaluation) string {
	var lines []string
	for _, ev := range all {
		says := "says"
		if ev.observing() {
			says = "observes, and would say"
		}
		said := append([]string{ev.verdict()}, w.effectsOf(ev.compiled, ev.out)...)
		lines = append(lines, fmt.Sprintf("  %s %s %s", ev.called(), says, strings.Join(said, ", ")))
		for _, saw := range w.saw(ev.compiled) {
			lines = append(lines, "    "+saw)
		}
	}
	if len(all) == 0 {
		for _, c := range w.suite.policies {
			lines = append(lines, fmt.Sprintf("  %s is not asked: %s", c.called(), w.concerns(c)))
		}
	}
	return strings.Join(lines, "\n")
}
