package analyzer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// maxPairs bounds the pairs of policies followed together, and maxCompared the pairs whose
// matches are compared.
const (
	maxPairs    = 300
	maxCompared = 1 << 20
)

// behind returns warnings about policies that refuse arriving tasks, or throw into running ones on
// ticks, where another policy has refused or ended all of them already.
func behind(members []Member) (all []Remark) {
	var refusing []Member
	for _, m := range members {
		p := m.Verified.program
		if (p.On == stubs.Enqueue && !p.AsksRunning() || p.On == stubs.Tick) && m.Spec.Mode != policy.Off && p.Root.Any(throws) {
			refusing = append(refusing, m)
		}
	}
	pairs, compared := 0, 0
	for i, m := range refusing {
		for k, o := range refusing {
			if compared++; compared > maxCompared {
				return all
			}
			if k == i || !o.precedes(m, k < i) || !o.covers(m) || !sharesReads(o, m) {
				continue
			}
			if pairs++; pairs > maxPairs {
				return all
			}
			if at := m.refusedBy(o); at != nil && (k < i || o.refusedBy(m) == nil) { // of two alike the later one
				if m.Verified.program.On == stubs.Tick {
					all = append(all, m.remark(at, "lower this limit, raise the other one, or give the policies other tasks",
						"%s is never reached: %s ends these tasks before", m.text(at), o.called()))
					break
				}
				all = append(all, m.remark(at, "let this policy come first, or remove it",
					"%s is never reached: %s is evaluated before, and refuses these tasks", m.text(at), o.called()))
				break
			}
		}
	}
	return all
}

// precedes reports whether a policy decides about a task before m does, if the conditions of both
// hold. On ticks a policy that compares only times has decided when they come to hold, unless m may
// end tasks that it may not.
func (o Member) precedes(m Member, earlier bool) bool {
	p := o.Verified.program
	switch {
	case o.Spec.Mode != m.Spec.Mode || p.On != m.Verified.program.On:
		return false
	case p.On == stubs.Enqueue:
		return earlier
	case m.Spec.Force && !o.Spec.Force:
		return false
	}
	timely := o.Verified.keepsTime() && (&analysis{p: p}).ofTimeAlone()
	return timely || earlier && o.Spec.On.Interval <= m.Spec.On.Interval
}

// called names a policy as its author does: a limit by its function.
func (m Member) called() string {
	if f, ok := m.limitOf(); ok {
		return fmt.Sprintf("the limit of %q", f)
	}
	return fmt.Sprintf("the policy %q", m.Spec.Name)
}

// limitPrefix begins the names of the policies of policy.TimeLimit.
const limitPrefix = "time-limit/"

// limitOf returns the name of the function or tasks if the policy is a limit of them.
func (m Member) limitOf() (name string, ok bool) {
	if !strings.HasPrefix(m.Spec.Name, limitPrefix) {
		return "", false
	}
	for _, r := range m.Verified.program.Reads {
		f := cmp.Or(r.Pattern, r.Key)
		if s, err := (policy.TimeLimit{Func: f, Limit: time.Second}).Spec(); r.Stub == stubs.TaskSections && err == nil && s.Name == m.Spec.Name {
			return f, true
		}
	}
	return "", false
}

// covers reports whether m is about all tasks that o is about.
func (m Member) covers(o Member) bool {
	a, b := m.Spec.Match, o.Spec.Match
	return (slices.Equal(a.Tasks, b.Tasks) && slices.Equal(a.Except, b.Except) || len(a.Except) == 0 && coversNames(a.Tasks, b.Tasks)) &&
		(len(a.Kinds) == 0 || slices.Equal(a.Kinds, b.Kinds)) && (len(a.Loops) == 0 || slices.Equal(a.Loops, b.Loops))
}

// coversNames reports whether some names and patterns match all names that others match; no name
// stands for all.
func coversNames(all, names []string) bool {
	if len(names) == 0 {
		names = []string{"*"}
	}
	return len(all) == 0 || !slices.ContainsFunc(names, func(name string) bool {
		p, _ := lang.ParsePattern(name)
		return !slices.ContainsFunc(all, func(text string) bool {
			q, _ := lang.ParsePattern(text)
			return q.Covers(p)
		})
	})
}

// sharesReads reports whether both policies read the same stub, which is not a state, or one reads
// a stub that bounds a stub of the other.
func sharesReads(a, b Member) bool {
	return slices.ContainsFunc(a.Verified.program.Reads, func(r ir.Read) bool {
		return !r.OfState() && r.Stub != stubs.Draw && slices.ContainsFunc(b.Verified.program.Reads, func(s ir.Read) bool {
			_, related := Related(s, r)
			return related || r.String() == s.String()
		})
	})
}

// refusedBy returns a throw of m if m cannot throw for any task that the earlier policy o accepts,
// and can for other names.
func (m Member) refusedBy(o Member) (at *ir.Node) {
	j := newJoint()
	alone := j.join(m)
	alone.statement(alone.p.Root)
	if !reaches(alone.reached, stubs.Throw) {
		return nil
	}
	j = newJoint()
	reached := false
	w := &pathwise{a: j.join(o), left: maxPaths}
	w.a.learnMatch(m.Spec.Match)
	j.join(m)
	j.relate()
	w.walk(w.a.p.Root, func(last *ir.Node) {
		if last.Op != ir.OpVerdict || throws(last) || reached {
			return
		}
		mark := j.mark()
		defer j.undo(mark)
		a := j.join(m)
		a.statement(a.p.Root)
		reached = reaches(a.reached, stubs.Throw)
	})
	if reached || w.left <= 0 {
		return nil
	}
	m.Verified.program.Root.Any(func(n *ir.Node) bool {
		if throws(n) && alone.reached[n] {
			at = n
		}
		return at != nil
	})
	return at
}
