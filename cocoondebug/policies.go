package cocoondebug

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// policies puts the policies that decide most into a snapshot.
func (c *collector) policies(s *Snapshot, st cocoon.Stats) {
	names := sortedBy(maps.Keys(st.Policies), func(name string) int64 {
		p := st.Policies[name]
		return p.Throws + p.Refusals + p.Switches + p.WouldThrow + p.WouldSwitch
	})
	names, s.MorePolicies = first(names, maxPolicies)
	slices.Sort(names)
	s.Policies = []Policy{}
	for _, name := range names {
		if r := c.rt.Policy(name); r != nil { // otherwise it has just been cancelled
			s.Policies = append(s.Policies, policyOf(r, st.Policies[name]))
		}
	}
}

func policyOf(r *cocoon.Registration, st cocoon.PolicyStats) Policy {
	p := r.Policy()
	shown := Policy{
		Name: p.Name, Text: cut(p.Expr, maxText), On: onOf(p.On), Match: cut(matchOf(p.Match), maxText), File: r.File(),
		Mode: st.Mode.String(), Own: p.Mode.String(), Cost: r.Cost(), Interval: st.Interval, Off: st.Off,
		Evaluations: st.Evaluations, Throws: st.Throws, Refusals: st.Refusals, Switches: st.Switches, Effects: st.Effects,
		WouldThrow: st.WouldThrow, WouldSwitch: st.WouldSwitch, WouldEffect: st.WouldEffect,
		Errors: st.Errors, Clamped: st.Clamped, LastError: cut(st.LastError, maxText), Warnings: []string{},
	}
	warnings, _ := first(r.Warnings(), maxWarnings)
	for _, w := range warnings {
		shown.Warnings = append(shown.Warnings, cut(w, maxText))
	}
	return shown
}

// onOf says when a policy is evaluated.
func onOf(on cocoon.Trigger) string {
	var parts []string
	if on.Interval > 0 {
		parts = append(parts, "every "+on.Interval.String())
	}
	switch {
	case on.Custom != "":
		parts = append(parts, fmt.Sprintf("on %v %q", on.Events, on.Custom))
	case on.Events != 0:
		parts = append(parts, "on "+on.Events.String())
	}
	return strings.Join(parts, ", and ")
}

// matchOf describes to which tasks and loops a policy applies; "" means all.
func matchOf(m cocoon.Match) string {
	var parts []string
	for _, of := range []struct {
		what string
		list []string
	}{{"loops", m.Loops}, {"tasks", m.Tasks}, {"except", m.Except}, {"kinds", m.Kinds}} {
		if len(of.list) > 0 {
			parts = append(parts, of.what+" "+strings.Join(of.list, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// states puts the states into a snapshot.
func (c *collector) states(s *Snapshot, st cocoon.Stats) {
	all := []State{}
	for _, v := range c.rt.StateValues() {
		name := v.Name
		if v.Policy != "" {
			name = v.Policy + "." + name
		}
		all = append(all, State{Name: cut(name, maxName), Loop: v.Loop, Value: valueOf(v.Value)})
	}
	for name, k := range st.States {
		all = append(all, State{Name: cut(name, maxName), Keys: k.Keys, MaxKeys: k.MaxKeys, Evicted: k.Evicted})
	}
	slices.SortStableFunc(all, func(a, b State) int { return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Loop, b.Loop)) })
	s.States, s.MoreStates = first(all, maxStates)
}

// valueOf returns the JSON form of a state's value. Durations, and numbers that JSON lacks, are
// strings.
func valueOf(v any) json.RawMessage {
	if d, ok := v.(time.Duration); ok {
		v = d.String()
	}
	text, err := json.Marshal(v)
	if err != nil {
		text, _ = json.Marshal(fmt.Sprint(v))
	}
	return text
}

// gaps puts the longest gaps into a snapshot.
func (c *collector) gaps(s *Snapshot) {
	longest, more := first(c.rt.Gaps(), maxGaps)
	s.Gaps, s.MoreGaps = []Gap{}, more
	for _, g := range longest {
		s.Gaps = append(s.Gaps, Gap{cut(g.Function, maxText), cut(g.File, maxText), g.Line, g.Longest, g.Count, cut(g.Task, maxName)})
	}
}
