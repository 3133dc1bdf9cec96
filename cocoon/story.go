package cocoon

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
)

// Account returns how the task's time had been spent at the verdict.
func (e *PreemptedError) Account() Account { return e.account }

// Version returns the version of the policy: 1 as registered, and one more for each update. It
// returns 0 if no policy threw.
func (e *PreemptedError) Version() int {
	if e.ruling == nil {
		return 0
	}
	return e.ruling.version
}

// Values returns the values of the stubs that the policy read for its verdict, in the order of its
// text, or nil if no policy threw.
func (e *PreemptedError) Values() []StubValue { return slices.Clone(e.ruling.find().values) }

// Branch returns the part of the policy's expression that decided. ok is false if no policy threw.
// Each call evaluates the expression again, in some microseconds, with the values of the verdict.
func (e *PreemptedError) Branch() (b Branch, ok bool) {
	f := e.ruling.find()
	return f.branch, f.decided
}

// Format prints Error(), and for %+v the whole story over several lines: the policy's text with the
// deciding branch marked, the values that it read, the task's account, and its stack. The story is
// for operators, and not for clients: it has the policy, names of other tasks and places in the
// program. Texts of clients are quoted.
func (e *PreemptedError) Format(f fmt.State, verb rune) {
	switch {
	case verb == 'v' && f.Flag('+'):
		io.WriteString(f, e.story())
	case verb == 'q':
		fmt.Fprintf(f, "%q", e.Error())
	default:
		io.WriteString(f, e.Error())
	}
}

func (e *PreemptedError) story() string {
	var b strings.Builder
	b.WriteString(e.Error())
	if e.ruling != nil {
		f := e.ruling.find()
		b.WriteString("\n" + f.marked)
		for _, c := range f.branch.Because {
			fmt.Fprintf(&b, "\n  because %v", c)
		}
		for _, v := range f.values {
			fmt.Fprintf(&b, "\n  read %v", v)
		}
	}
	fmt.Fprintf(&b, "\n  the task had been %s", e.account.text())
	if stack := e.Stack(); stack != "" {
		b.WriteString("\n" + strings.TrimSuffix(stack, "\n"))
	}
	return b.String()
}

// MarshalJSON returns the error with the values, the branch, the account and the stack. Names do
// not change, and new ones may be added. Names that end in _ns are nanoseconds.
func (e *PreemptedError) MarshalJSON() ([]byte, error) {
	cause := ""
	if e.Cause != nil {
		cause = e.Cause.Error()
	}
	return json.Marshal(struct {
		Error      string      `json:"error"`
		Policy     string      `json:"policy,omitempty"`
		Version    int         `json:"version,omitempty"`
		Reason     string      `json:"reason,omitempty"`
		Task       string      `json:"task"`
		Section    string      `json:"section,omitempty"`
		Started    bool        `json:"started"`
		Cause      string      `json:"cause,omitempty"`
		RetryAfter int64       `json:"retry_after_ns,omitempty"`
		Account    accountJSON `json:"account"`
		Where      string      `json:"where,omitempty"`
		Stack      string      `json:"stack,omitempty"`
		rulingJSON
	}{
		e.Error(), e.Policy, e.Version(), e.Reason, e.Task, e.Section, e.Started, cause, int64(e.RetryAfter),
		e.account.json(), e.Where(), e.Stack(), e.ruling.json(),
	})
}

// LogValue returns what MarshalJSON returns, as a group, for package slog, but without the stack.
func (e *PreemptedError) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("error", e.Error()), slog.String("task", e.Task), slog.Bool("started", e.Started), slog.Duration("running", e.Running)}
	if e.ruling != nil {
		attrs = append(attrs, slog.String("policy", e.Policy), slog.Int("version", e.Version()), slog.String("reason", e.Reason))
	}
	for _, a := range []slog.Attr{slog.String("section", e.Section), slog.String("where", e.Where())} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	return slog.GroupValue(append(attrs, e.ruling.attrs()...)...)
}
