package policytest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// vacuous returns why an expectation holds whatever the policies say, because of the modes of the
// evaluated policies; or "".
func vacuous(want document.TestWant, all []evaluation) string {
	observing := func(ev evaluation) bool { return ev.observing() }
	decides := want.Verdict != nil || want.Policy != "" || want.Effects != nil || want.Counts != nil || want.States != nil
	others := want
	others.Effects = nil
	switch {
	case len(all) == 0:
	case want.Observed != nil && !slices.ContainsFunc(all, observing):
		return "no policy that is asked is in mode observe; write what is expected without observed"
	case want.Observed == nil && decides && !slices.ContainsFunc(all, func(ev evaluation) bool { return !ev.observing() }):
		return "all policies that are asked are in mode observe, and decide nothing; expect observed: ..., or write mode: enforce at the top of this file"
	case want.Effects != nil && len(*want.Effects) == 0 && !others.Any() && !slices.ContainsFunc(all, func(ev evaluation) bool { return len(ev.program.Sites) > 0 }):
		return "effects: [] holds whatever the policies decide, because no policy that is asked has an effect; expect a verdict"
	}
	return ""
}

// untouched returns an error if the tests evaluate no policy, so they pass whatever the policies
// say. Policies in mode off are never evaluated.
func (s *suite) untouched() error {
	off := true
	for _, c := range s.policies {
		if len(c.reached) > 0 {
			return nil
		}
		off = off && c.spec.Mode == policy.Off
	}
	if off {
		return nil
	}
	return errors.New("the tests evaluate none of the policies: all events are about other tasks, loops or events; give a name, a kind or a loop that a match lets through")
}

// unsuspended returns why no server carries out an expected switch: the task is of a kind that is
// never suspended; or "".
func (w *world) unsuspended(want document.TestWant, all []evaluation) string {
	kind, from := w.value(stubs.Catalogue[stubs.TaskKind].Path, ir.Read{Stub: stubs.TaskKind})
	if from == notGiven || kind != stubs.KindNames[0] && kind != stubs.KindNames[2] {
		return ""
	}
	for observing, d := range map[bool]*document.TestDecision{false: &want.TestDecision, true: want.Observed} {
		if verdict, _ := together(all, observing); verdict != "switch()" || d == nil {
			continue
		}
		if d.Verdict != nil && *d.Verdict == "switch()" || d.Counts["switch()"] > 0 {
			return fmt.Sprintf("switch() suspends tasks of the kinds preemptible and both, and this task is %s: on a server it goes on", kind)
		}
	}
	return ""
}

// hollow refuses an expectation without content.
func hollow(want document.TestWant) error {
	for _, d := range []*document.TestDecision{&want.TestDecision, want.Observed} {
		switch {
		case d == nil:
		case d.States != nil && len(d.States) == 0:
			return errors.New("states: {} expects nothing; name a state and its value, or leave states out")
		case d.Counts != nil && len(d.Counts) == 0:
			return errors.New("counts: {} expects nothing; name a verdict and a number, or leave counts out")
		}
	}
	return nil
}

// otherTenant refuses a tenant that contradicts the value of the label that names tenants.
// A tenant without an account of its own is "other".
func (w *world) otherTenant() error {
	task := stubs.TaskLabels
	if w.on == stubs.Enqueue {
		task = stubs.ArrivingLabels
	}
	tenant, label := stubs.Catalogue[stubs.TenantName].Path, ir.Read{Stub: task, Key: w.suite.loaded.Label}.String()
	is, given := w.given[tenant].(string)
	named, both := w.given[label].(string)
	if w.suite.loaded.Label == "" || !given || !both || is == named || is == "" || named == "" || is == "other" {
		return nil
	}
	return &badTest{w.places[tenant], fmt.Errorf("%s is %q and %s is %q: no server has both, because this label names the tenant; give one of them", tenant, is, label, named)}
}

// unrelated returns an error about two given values that policies of the event read, together or
// each one of them, and that no server has together. all are the policies that are asked so far.
func (w *world) unrelated(all []*compiled) error {
	type read struct {
		ir.Read
		key string
	}
	var reads []read
	for _, c := range all {
		for i, r := range c.program.Reads {
			if _, given := w.given[c.keys[i]]; given {
				reads = append(reads, read{r, c.keys[i]})
			}
		}
	}
	for _, of := range reads {
		for _, to := range reads {
			r, ok := analyzer.Related(of.Read, to.Read)
			if !ok || r.Kind == ir.Mostly {
				continue
			}
			x, y := w.given[of.key], w.given[to.key]
			m, n := amount(x), amount(y)
			if r.Kind == ir.AtMost && m > n || r.Kind == ir.ZeroWhile && m > 0 && n == 0 {
				return &badTest{w.places[of.key], fmt.Errorf("no server has %s %v and %s %v together: %s", of.key, x, to.key, y, r.Why)}
			}
		}
	}
	return nil
}

// amount returns a number of a given value: of a name its length.
func amount(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case time.Duration:
		return int64(v)
	case string:
		return int64(len(v))
	}
	return 0
}

// mentions refuses an expectation of a keyed state if the test has none of its keys: they have
// their first value, whatever the policies do.
func (w *world) mentions(name string, want any) error {
	state, err := w.state(name)
	keys, keyed := want.(map[string]any)
	if err != nil || !keyed || len(keys) == 0 || state[w.loop()].By.Parts() != 1 || state[w.loop()].By[0] != stubs.Name {
		return nil
	}
	for key := range keys {
		if w.mentioned(key) {
			return nil
		}
	}
	return errors.New("the test gives none of these keys of the state " + name + " to a task, and no policy has them, so they keep the first value")
}

// mentioned reports whether a name may be a key: the test gives it, a document declares it as a
// label, or a policy has it as a constant.
func (w *world) mentioned(key string) bool {
	switch {
	case key == "", key == defaultLoop, key == "other", w.heard[key]:
		return true
	}
	for _, class := range w.suite.loaded.Tasks {
		for _, label := range class.Labels {
			if label == key {
				return true
			}
		}
	}
	return slices.ContainsFunc(w.suite.policies, func(c *compiled) bool {
		return slices.ContainsFunc(c.program.Sites, func(s ir.Site) bool { return s.By != nil && slices.Contains(s.By.Texts(), fmt.Sprintf("%q", key)) })
	})
}
