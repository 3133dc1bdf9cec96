package cocoondebug

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// Decision is a cocoon.Decision, with the same JSON form.
type Decision struct {
	Number  uint64        `json:"number"`
	Time    time.Time     `json:"time"`
	Kind    string        `json:"kind"`
	Mode    string        `json:"mode"`
	Loop    string        `json:"loop,omitempty"`
	Task    string        `json:"task,omitempty"`
	Tenant  string        `json:"tenant,omitempty"`
	Section string        `json:"section,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	File    string        `json:"file,omitempty"`
	Late    time.Duration `json:"late_ns,omitempty"`
	Policy  string        `json:"policy,omitempty"`
	Version int           `json:"version,omitempty"`
	Branch  *Branch       `json:"branch,omitempty"`
	Values  []StubValue   `json:"values,omitempty"`
}

// Branch is the part of a policy's text that decided, see cocoon.Branch.
type Branch struct {
	File    string             `json:"file"`
	Line    int                `json:"line"`
	Column  int                `json:"column"`
	Text    string             `json:"text"`
	Because []cocoon.Condition `json:"because,omitempty"`
}

// StubValue is a value that a policy read. Durations are strings.
type StubValue struct {
	Stub  string          `json:"stub"`
	Value json.RawMessage `json:"value"`
}

// decisionOf converts a decision through its JSON form, so that the two forms cannot differ. It
// takes some microseconds, so it is for the few decisions of a snapshot.
func decisionOf(d cocoon.Decision) (shown Decision) {
	text, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(text, &shown)
	}
	if err != nil {
		return Decision{Number: d.Number, Time: d.Time, Kind: string(d.Kind), Reason: err.Error()}
	}
	return shown
}

// The collector keeps decisions by sort, so that a storm of refusals does not push out a stall.
const (
	verdicts = iota // throws and refusals
	switches
	stalls
	states
	changes
	sortsOfDecisions
)

var keptOf = [sortsOfDecisions]int{verdicts: 40, switches: 10, stalls: 10, states: 10, changes: 20}

const keptOfPolicy = 3

func sortOf(k cocoon.DecisionKind) int {
	switch k {
	case cocoon.DecisionThrow, cocoon.DecisionRefusal:
		return verdicts
	case cocoon.DecisionSwitch:
		return switches
	case cocoon.DecisionStall:
		return stalls
	case cocoon.DecisionState:
		return states
	}
	return changes
}

// decisions holds the last decisions. The collector's goroutine owns it.
type decisions struct {
	last  [sortsOfDecisions][]cocoon.Decision // the oldest first
	of    map[string][]cocoon.Decision        // by policy
	shown map[uint64]Decision                 // in the last snapshot, converted
}

// maxPoliciesKept bounds decisions.of: names of policies may come and go.
const maxPoliciesKept = 1024

func (all *decisions) add(d cocoon.Decision) {
	sort := sortOf(d.Kind)
	all.last[sort] = appendLast(all.last[sort], d, keptOf[sort])
	if d.Policy == "" {
		return
	}
	if all.of == nil || len(all.of) >= maxPoliciesKept {
		all.of = map[string][]cocoon.Decision{}
	}
	all.of[d.Policy] = appendLast(all.of[d.Policy], d, keptOfPolicy)
}

// appendLast appends to a list of at most so many elements. It moves the list only when it has
// grown to twice that, because a storm adds thousands.
func appendLast(list []cocoon.Decision, d cocoon.Decision, most int) []cocoon.Decision {
	if len(list) == 2*most {
		copy(list, list[most:])
		clear(list[most:])
		list = list[:most]
	}
	return append(list, d)
}

// show returns the last of the decisions for a snapshot, the newest first. Decisions of the
// snapshot before need not be converted again.
func (all *decisions) show(list []cocoon.Decision, most int, now map[uint64]Decision) []Decision {
	shown := []Decision{}
	for _, d := range list[max(0, len(list)-most):] {
		converted, ok := now[d.Number]
		if !ok {
			if converted, ok = all.shown[d.Number]; !ok {
				converted = decisionOf(d)
			}
			now[d.Number] = converted
		}
		shown = append(shown, converted)
	}
	slices.Reverse(shown)
	return shown
}

// fill puts the last decisions into a snapshot with its policies.
func (all *decisions) fill(s *Snapshot) {
	now := map[uint64]Decision{}
	s.Stalls = all.show(all.last[stalls], keptOf[stalls], now)
	for _, sort := range []int{verdicts, switches, states, changes} {
		s.Decisions = append(s.Decisions, all.show(all.last[sort], keptOf[sort], now)...)
	}
	slices.SortFunc(s.Decisions, func(a, b Decision) int { return int(int64(b.Number - a.Number)) })
	for i := range s.Policies {
		s.Policies[i].Last = all.show(all.of[s.Policies[i].Name], keptOfPolicy, now)
	}
	all.shown = now
}
