package analyzer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// arrivals looks for what a policy does to the arriving task because of task.*, another task, which
// runs. Its author most likely means arriving.*.
type arrivals struct {
	*analysis
	locals map[int]*policy.Node // by local: an operation in its value that reads task.*
	does   string               // what the policy does, if it is found
}

// arrivals warns, once a policy, of a throw, a rank or a move to the background on enqueue that
// depends on task.*. A policy that may switch is about running tasks, too, and one that reads the
// same property of both tasks compares them: they get no warning.
func (a *analysis) arrivals() {
	if a.p.On&stubs.Enqueue == 0 || !a.p.AsksRunning() || a.p.MaySwitch() {
		return
	}
	r := arrivals{analysis: a, locals: map[int]*policy.Node{}}
	n := r.statement(a.p.Root, nil)
	if n == nil {
		return
	}
	read, _ := r.ofTask(n)
	name := read.Name().String()
	hint := "evaluate the policy on start, or on ticks, to throw into that task; or read arriving.*"
	switch _, has := arriving(read); {
	case a.p.On != stubs.Enqueue:
		hint = "make two policies of it; the one on enqueue reads arriving.*"
	case has:
		hint = "write arriving." + strings.TrimPrefix(name, "task.")
	}
	a.warn(n, hint, "on enqueue %s the arriving task, and %s is about a task that runs", r.does, name)
}

// arriving returns the stub of the arriving task for a stub of task.*.
func arriving(task policy.Read) (*stubs.Stub, bool) {
	_, field, _ := strings.Cut(stubs.Catalogue[task.Stub].Path, ".")
	return stubs.Lookup("arriving." + field)
}

// acts are the effects on the arriving task.
var acts = map[stubs.Effect]string{stubs.Rank: "rank() orders", stubs.Background: "background() moves"}

// statement returns an operation that reads task.*, on which an act in n depends, or nil. about is
// such an operation of the conditions around n, or nil.
func (r *arrivals) statement(n, about *policy.Node) *policy.Node {
	switch n.Op {
	case policy.OpVerdict:
		if stubs.Decision(n.Imm) == stubs.Throw && r.reached[n] {
			r.does = "throw() refuses"
			return about
		}
	case policy.OpEffect:
		if does := acts[r.p.Sites[n.Index].Effect]; does != "" {
			r.does = does
			return cmp.Or(about, r.about(n.A))
		}
	case policy.OpSeq:
		return r.first(about, n.A, n.B)
	case policy.OpLet:
		r.locals[n.Index] = r.about(n.A)
		return r.statement(n.B, about)
	case policy.OpIf:
		about = cmp.Or(about, r.about(n.A))
		return r.first(about, n.B, n.C)
	}
	return nil
}

// first returns the first operation that statement finds.
func (r *arrivals) first(about *policy.Node, statements ...*policy.Node) *policy.Node {
	for _, n := range statements {
		if found := r.statement(n, about); found != nil {
			return found
		}
	}
	return nil
}

// about returns the first operation of an expression that reads task.*, or nil.
func (r *arrivals) about(n *policy.Node) *policy.Node {
	if n == nil {
		return nil
	}
	switch n.Op {
	case policy.OpLocal:
		return r.locals[n.Index]
	case policy.OpLet:
		r.locals[n.Index] = r.about(n.A)
	}
	if _, ok := r.ofTask(n); ok {
		return n
	}
	return cmp.Or(r.about(n.A), r.about(n.B), r.about(n.C))
}

// ofTask returns what an operation reads of task.* alone: by itself, in the key of a state, or as
// the list of a quantifier.
func (r *arrivals) ofTask(n *policy.Node) (policy.Read, bool) {
	var by *policy.KeyOf
	switch {
	case n.Op == policy.OpRead:
		if read := r.reads[n.Index]; r.alone(read) {
			return read, true
		}
		by = r.reads[n.Index].By
	case n.Op == policy.OpTake:
		by = r.p.Sites[n.Index].By
	case n.Source.List:
		read := r.reads[n.Source.Offset]
		return read, r.alone(read)
	}
	for i := 0; by != nil && i < len(by); i++ {
		if read := r.reads[by[i].Offset]; !by[i].Constant && by[i].Type != stubs.Invalid && r.alone(read) {
			return read, true
		}
	}
	return policy.Read{}, false
}

// alone reports whether a read is of task.*, in a policy that does not read the same of the
// arriving task; if the arriving task has no such property, in one that reads nothing of it.
func (r *arrivals) alone(read policy.Read) bool {
	if read.Stub > stubs.TaskSlice {
		return false
	}
	stub, has := arriving(read)
	return !slices.ContainsFunc(r.p.Reads, func(x policy.Read) bool {
		if has {
			return x.Stub == stub.ID && x.Key == read.Key
		}
		return stubs.ArrivingName <= x.Stub && x.Stub <= stubs.ArrivingLabels
	})
}
