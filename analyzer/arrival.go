package analyzer

import (
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// arrivals looks for what a policy does to the arriving task because of task.*, another task, which
// runs. Its author most likely means arriving.*.
type arrivals struct {
	a    *analysis
	uses map[*ir.Node]tasksIn // by expression
	does string               // what the policy does, if it is found
}

// tasksIn are the reads of both tasks in an expression.
type tasksIn struct {
	running  []taskRead
	arriving []ir.Read // except where the expression asks only whether a name is empty
}

// taskRead is an operation and what it reads of task.*.
type taskRead struct {
	*ir.Node
	ir.Read
}

// arrivals warns, once a policy, of a throw, a rank or a move to the background on enqueue that
// depends on task.*. A policy that may switch is about running tasks, too, and one in which an act
// depends on the same property of both tasks compares them: they get no warning.
func (a *analysis) arrivals() {
	if a.p.On&stubs.Enqueue == 0 || !a.p.AsksRunning() || a.p.MaySwitch() {
		return
	}
	r := arrivals{a: a, uses: map[*ir.Node]tasksIn{}}
	found, ok := r.statement(a.p.Root, nil)
	if !ok {
		return
	}
	name := found.Read.Name().String()
	hint := "evaluate the policy on start, or on ticks, to throw into that task; or read arriving.*"
	switch _, has := arriving(found.Read); {
	case a.p.On != stubs.Enqueue:
		hint = "make two policies of it; the one on enqueue reads arriving.*"
	case has:
		hint = "write arriving." + strings.TrimPrefix(name, "task.")
	}
	a.warn(found.Node, hint, "on enqueue %s the arriving task, and %s is about a task that runs", r.does, name)
}

// arriving returns the stub of the arriving task for a stub of task.*.
func arriving(task ir.Read) (*stubs.Stub, bool) {
	_, field, _ := strings.Cut(stubs.Catalogue[task.Stub].Path, ".")
	return stubs.Lookup("arriving." + field)
}

// acts are the effects on the arriving task.
var acts = map[stubs.Effect]string{stubs.Rank: "rank() orders", stubs.Background: "background() moves"}

// statement returns an operation that reads task.*, on which an act in n depends. conds are the
// conditions around n.
func (r *arrivals) statement(n *ir.Node, conds []*ir.Node) (found taskRead, ok bool) {
	switch n.Op {
	case ir.OpVerdict:
		if stubs.Decision(n.Imm) == stubs.Throw && r.a.reached[n] {
			return r.alone(conds, "throw() refuses")
		}
	case ir.OpEffect:
		if does := acts[r.a.p.Sites[n.Index].Effect]; does != "" {
			if n.A != nil {
				conds = append(conds[:len(conds):len(conds)], n.A)
			}
			return r.alone(conds, does)
		}
	case ir.OpSeq:
		return r.first(conds, n.A, n.B)
	case ir.OpLet:
		return r.statement(n.B, conds)
	case ir.OpIf:
		return r.first(append(conds[:len(conds):len(conds)], n.A), n.B, n.C)
	}
	return found, false
}

// first returns the first operation that statement finds.
func (r *arrivals) first(conds []*ir.Node, statements ...*ir.Node) (found taskRead, ok bool) {
	for _, n := range statements {
		if found, ok = r.statement(n, conds); ok {
			return found, true
		}
	}
	return found, false
}

// alone returns the first read of task.* in some expressions that do not read the same of the
// arriving task; if the arriving task has no such property, that read nothing of it.
func (r *arrivals) alone(all []*ir.Node, does string) (found taskRead, ok bool) {
	var arrives []ir.Read
	for _, n := range all {
		arrives = append(arrives, r.tasksIn(n).arriving...)
	}
	for _, n := range all {
		for _, read := range r.tasksIn(n).running {
			stub, has := arriving(read.Read)
			if !slices.ContainsFunc(arrives, func(x ir.Read) bool { return !has || x.Stub == stub.ID && x.Key == read.Key }) {
				r.does = does
				return read, true
			}
		}
	}
	return found, false
}

// tasksIn returns an expression's reads of both tasks: by itself, in the keys of states, or as the
// list of a quantifier.
func (r *arrivals) tasksIn(n *ir.Node) tasksIn {
	in, known := r.uses[n]
	if !known {
		r.follow(n, &in, map[int]bool{})
		r.uses[n] = in
	}
	return in
}

// follow adds what n reads. locals are the locals that it has followed.
func (r *arrivals) follow(n *ir.Node, in *tasksIn, locals map[int]bool) {
	if n == nil || r.asksForAny(n) {
		return
	}
	var by *ir.KeyOf
	switch {
	case n.Op == ir.OpLocal && !locals[n.Index]:
		locals[n.Index] = true
		r.follow(r.a.lets()[n.Index], in, locals)
	case n.Op == ir.OpRead:
		in.add(n, r.a.reads[n.Index])
		by = r.a.reads[n.Index].By
	case n.Op == ir.OpTake:
		by = r.a.p.Sites[n.Index].By
	case n.Source.List:
		in.add(n, r.a.reads[n.Source.Offset])
	}
	for i := 0; by != nil && i < len(by); i++ {
		if !by[i].Constant && by[i].Type != stubs.Invalid {
			in.add(n, r.a.reads[by[i].Offset])
		}
	}
	r.follow(n.A, in, locals)
	r.follow(n.B, in, locals)
	r.follow(n.C, in, locals)
}

// asksForAny reports whether n compares a name of the arriving task with "".
func (r *arrivals) asksForAny(n *ir.Node) bool {
	if n.Op != ir.OpEq && n.Op != ir.OpNe || n.A.Op != ir.OpRead && n.B.Op != ir.OpRead {
		return false
	}
	x, y := n.A, n.B
	if x.Op == ir.OpConst {
		x, y = y, x
	}
	return x.Op == ir.OpRead && r.a.reads[x.Index].Stub >= stubs.ArrivingName && y.Op == ir.OpConst && y.Type == stubs.Name && y.Imm == 0
}

func (in *tasksIn) add(n *ir.Node, r ir.Read) {
	switch {
	case r.Stub <= stubs.TaskSlice:
		in.running = append(in.running, taskRead{n, r})
	case r.Stub <= stubs.ArrivingLabels:
		in.arriving = append(in.arriving, r)
	}
}
