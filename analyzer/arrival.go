package analyzer

import (
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// refusals looks for throws on enqueue under conditions about task.*. Such a throw refuses the
// arriving task because of another one, which runs; its author most likely means arriving.*.
type refusals struct {
	*analysis
	locals map[int][]*policy.Node // by local: what its value reads of task.*
	about  []*policy.Node         // what the conditions around the statement read of task.*
}

// arrivals warns, once a policy, of a throw on enqueue that depends on task.*. A policy that may
// switch is about running tasks, too, and one that reads the same property of both tasks compares
// them: they get no warning.
func (a *analysis) arrivals() {
	if a.p.On&stubs.Enqueue == 0 || !a.p.AsksRunning() || a.p.MaySwitch() {
		return
	}
	r := refusals{analysis: a, locals: map[int][]*policy.Node{}}
	r.statement(a.p.Root)
}

// statement reports whether there is a warning.
func (r *refusals) statement(n *policy.Node) bool {
	switch n.Op {
	case policy.OpVerdict:
		return stubs.Decision(n.Imm) == stubs.Throw && r.reached[n] && slices.ContainsFunc(r.about, r.other)
	case policy.OpSeq:
		return r.statement(n.A) || r.statement(n.B)
	case policy.OpLet:
		r.locals[n.Index] = r.reads(n.A)
		return r.statement(n.B)
	case policy.OpIf:
		about := r.about
		r.about = slices.Concat(about, r.reads(n.A))
		if r.statement(n.B) || r.statement(n.C) {
			return true
		}
		r.about = about
	}
	return false
}

// reads returns the operations of an expression that read task.*.
func (r *refusals) reads(n *policy.Node) (all []*policy.Node) {
	if n == nil {
		return nil
	}
	switch {
	case n.Op == policy.OpLocal:
		return r.locals[n.Index]
	case n.Op == policy.OpLet:
		r.locals[n.Index] = r.reads(n.A)
	}
	if _, ok := r.ofTask(n); ok {
		all = append(all, n)
	}
	return slices.Concat(all, r.reads(n.A), r.reads(n.B), r.reads(n.C))
}

// ofTask returns what an operation reads of task.*: by itself, in the key of a state, or as the
// list of a quantifier.
func (r *refusals) ofTask(n *policy.Node) (policy.Read, bool) {
	ofTask := func(offset int) (policy.Read, bool) {
		read, ok := r.analysis.reads[offset]
		return read, ok && read.Stub <= stubs.TaskSlice
	}
	var by *policy.KeyOf
	switch {
	case n.Op == policy.OpRead:
		if read, ok := ofTask(n.Index); ok {
			return read, ok
		}
		by = r.analysis.reads[n.Index].By
	case n.Op == policy.OpTake:
		by = r.p.Sites[n.Index].By
	case n.Source.List:
		return ofTask(n.Source.Offset)
	}
	for i := 0; by != nil && i < len(by); i++ {
		if read, ok := ofTask(by[i].Offset); ok && !by[i].Constant && by[i].Type != stubs.Invalid {
			return read, ok
		}
	}
	return policy.Read{}, false
}

// other warns that n is about another task than a throw refuses, unless the policy reads the same
// of the arriving task.
func (r *refusals) other(n *policy.Node) bool {
	read, _ := r.ofTask(n)
	name := read.Name().String()
	_, field, _ := strings.Cut(stubs.Catalogue[read.Stub].Path, ".")
	arriving, has := stubs.Lookup("arriving." + field)
	compared := slices.ContainsFunc(r.p.Reads, func(x policy.Read) bool {
		if has {
			return x.Stub == arriving.ID && x.Key == read.Key
		}
		return stubs.ArrivingName <= x.Stub && x.Stub <= stubs.ArrivingLabels
	})
	if compared {
		return false
	}
	hint := "evaluate the policy on start, or on ticks, to throw into that task; or read arriving.*"
	switch {
	case has && r.p.On == stubs.Enqueue:
		hint = "write arriving." + strings.TrimPrefix(name, "task.")
	case r.p.On != stubs.Enqueue:
		hint = "make two policies of it; the one on enqueue reads arriving.*"
	}
	r.warn(n, hint, "on enqueue throw() refuses the arriving task, and %s is about a task that runs", name)
	return true
}
