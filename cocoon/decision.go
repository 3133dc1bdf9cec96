package cocoon

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Decision is one thing that the runtime or a policy decided, see Runtime.Decisions. Texts that
// clients may choose, such as names of tasks, are cut after 256 bytes, and are data: code that
// shows them must escape them for where it shows them. A Decision keeps nothing of its task alive.
type Decision struct {
	Number uint64 // its place in the stream: 1 for the first
	Time   time.Time
	Kind   DecisionKind

	Policy  string // "" if no policy decided
	Version int    // of the policy: 1 as registered, and one more for each update
	Mode    Mode   // Observe: it was only counted; of DecisionMode the new mode

	Loop    string
	Task    string // the task's path: "import/parse"
	Tenant  string
	Section string // the innermost section; "" outside any

	// Reason is the reason of a throw, the error that switched a policy off, what changed, which
	// state has which value, or why a document was refused.
	Reason string
	File   string // of a document

	// Late is the time between when it was due and when it was decided, in three cases: of a time
	// policy, since its tick or horizon; of a switch, from the verdict to the safe point; of a
	// stall, since the last safe point. Otherwise it is 0.
	Late time.Duration

	ruling *ruling
}

// DecisionKind says what was decided. The values are words of the JSON form, and do not change.
type DecisionKind string

// The kinds of decisions. A verdict of a policy in observe mode has the kind that it would have in
// enforce mode, and Decision.Mode is Observe.
const (
	DecisionThrow           DecisionKind = "throw"            // a policy, Cancel or Shutdown throws
	DecisionRefusal         DecisionKind = "refusal"          // a policy, MaxQueue, Cancel or Shutdown refused
	DecisionSwitch          DecisionKind = "switch"           // a policy has switched a task out
	DecisionStall           DecisionKind = "stall"            // the slot of a stalled task was lent
	DecisionState           DecisionKind = "state"            // a policy has set a state to another value
	DecisionPolicyAdded     DecisionKind = "policy-added"     // a policy is in force
	DecisionPolicyUpdated   DecisionKind = "policy-updated"   // a version has replaced another
	DecisionPolicyRemoved   DecisionKind = "policy-removed"   // a policy is no longer in force
	DecisionPolicyOff       DecisionKind = "policy-off"       // errors have switched a policy off
	DecisionDocumentLoaded  DecisionKind = "document-loaded"  // a document is in force
	DecisionDocumentRefused DecisionKind = "document-refused" // a document was not loaded
	DecisionRollback        DecisionKind = "rollback"         // the document before a canary is back
	DecisionMode            DecisionKind = "mode"             // a policy got a mode, or all did
	DecisionSnapshot        DecisionKind = "snapshot"         // the flight recorder wrote a file
	DecisionAction          DecisionKind = "action"           // an operator acted, see cocoondebug
)

// Values returns the values of the stubs that the policy read for the decision, in the order of its
// text. It returns nil if the decision is neither a verdict of a policy nor a state that it set.
func (d Decision) Values() []StubValue { return slices.Clone(d.ruling.find().values) }

// Branch returns the part of the policy's expression that decided. ok is false if the decision is
// neither a verdict of a policy nor a state that it set. Each call evaluates the expression again,
// in some microseconds, with the values of the decision, and on no loop.
func (d Decision) Branch() (b Branch, ok bool) {
	f := d.ruling.find()
	return f.branch, f.decided
}

// String returns the decision as one line, without the values. Texts of clients are quoted.
func (d Decision) String() string {
	var b strings.Builder
	b.WriteString(string(d.Kind))
	if d.Mode == Observe && d.Kind != DecisionMode {
		b.WriteString(" (observed)")
	}
	for _, part := range []struct{ name, text string }{
		{"policy", d.Policy}, {"task", d.Task}, {"section", d.Section}, {"tenant", d.Tenant}, {"loop", d.Loop}, {"file", d.File},
	} {
		if part.text != "" {
			fmt.Fprintf(&b, " %s %q", part.name, part.text)
		}
	}
	if d.Late > 0 {
		fmt.Fprintf(&b, " late %v", d.Late)
	}
	if d.Reason != "" {
		fmt.Fprintf(&b, ": %s", d.Reason)
	}
	return b.String()
}

// MarshalJSON returns the decision with its values and its branch. Names do not change, and new
// ones may be added. Times of the form late_ns are nanoseconds.
func (d Decision) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Number  uint64       `json:"number"`
		Time    time.Time    `json:"time"`
		Kind    DecisionKind `json:"kind"`
		Mode    string       `json:"mode"`
		Loop    string       `json:"loop,omitempty"`
		Task    string       `json:"task,omitempty"`
		Tenant  string       `json:"tenant,omitempty"`
		Section string       `json:"section,omitempty"`
		Reason  string       `json:"reason,omitempty"`
		File    string       `json:"file,omitempty"`
		Late    int64        `json:"late_ns,omitempty"`
		Policy  string       `json:"policy,omitempty"`
		Version int          `json:"version,omitempty"`
		rulingJSON
	}{
		d.Number, d.Time, d.Kind, d.Mode.String(), d.Loop, d.Task, d.Tenant, d.Section, d.Reason, d.File, int64(d.Late),
		d.Policy, d.Version, d.ruling.json(),
	})
}

// LogValue returns what MarshalJSON returns, as a group, for package slog.
func (d Decision) LogValue() slog.Value {
	attrs := []slog.Attr{slog.Uint64("number", d.Number), slog.Time("time", d.Time), slog.String("kind", string(d.Kind)), slog.String("mode", d.Mode.String())}
	for _, a := range []slog.Attr{
		slog.String("loop", d.Loop), slog.String("task", d.Task), slog.String("tenant", d.Tenant), slog.String("section", d.Section),
		slog.String("reason", d.Reason), slog.String("file", d.File), slog.Duration("late", d.Late),
		slog.String("policy", d.Policy), slog.Int("version", d.Version),
	} {
		if a.Value.String() != "" && !a.Value.Equal(slog.IntValue(0)) && !a.Value.Equal(slog.DurationValue(0)) {
			attrs = append(attrs, a)
		}
	}
	return slog.GroupValue(append(attrs, d.ruling.attrs()...)...)
}

// maxDecisionText bounds the texts of clients in a decision, in bytes.
const maxDecisionText = 256

// cutText returns a copy of s, or of its first bytes and "…". A copy, because s may be a small part
// of a large request, which would live as long.
func cutText(s string, most int) string {
	if len(s) <= most {
		return strings.Clone(s)
	}
	n := most - len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
