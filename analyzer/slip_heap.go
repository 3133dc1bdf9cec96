package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// heaps are the sizes that the heap of a server may have. A limit outside them is most likely in
// another unit than its author thinks.
var heaps = interval{lo: 1 << 20, hi: 1 << 44}

// heap warns of a comparison that has one result for all sizes of the heap that a server may have.
func (a *analysis) heap() (all []Warning) {
	if n, is := decidedByHeap(a.p, nil); n != nil {
		all = append(all, Warning{a.p.Errorf(n, heapHint, heapReason, a.text(n), is)})
	}
	return all
}

const (
	heapHint   = "runtime.heap is in bytes; compare it with a size of one unit, as in bytes(\"512MiB\")"
	heapReason = "%s is %v for each heap of 1MiB to 16TiB"
)

// heapStates returns warnings about states that no policy writes, and with whose values a
// comparison has one result for all sizes of the heap.
func heapStates(members []Member, d Declared) (all []Remark) {
	written := countsOf(members)
	for _, m := range members {
		constants := map[ir.Read]value{}
		for _, r := range m.Verified.program.Reads {
			if s, ok := m.declaration(r.Key, d); ok && r.Stub == stubs.State && r.By == nil && s.Parameter() && written[m.own(r.Key)] == nil {
				constants[r] = constant(s.Type, s.First)
			}
		}
		if n, is := decidedByHeap(m.Verified.program, constants); n != nil && len(constants) > 0 {
			all = append(all, m.remark(n, heapHint, heapReason, m.text(n), is))
		}
	}
	return all
}

// decidedByHeap returns a comparison about the heap, and its only result if the heap has a size
// that a server may have and some reads have constant values. Without that the comparison has both.
func decidedByHeap(p *ir.Program, constants map[ir.Read]value) (found *ir.Node, is bool) {
	free, bound := newAnalysis(p, 0), newAnalysis(p, 0)
	for r, v := range constants {
		free.facts.learn(free.facts.read(r), v)
		bound.facts.learn(bound.facts.read(r), v)
	}
	reads := false
	for _, r := range p.Reads {
		if r.Stub == stubs.RuntimeHeap {
			reads = true
			bound.facts.learn(bound.facts.read(r), intValue(r.Type, heaps))
		}
	}
	if !reads {
		return nil, false
	}
	free.statement(p.Root)
	bound.statement(p.Root)
	p.Root.Any(func(n *ir.Node) bool {
		v, reached := bound.values[n]
		switch n.Op {
		case ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
			if reached && v.truth.constant() && !free.values[n].truth.constant() && bound.slope(n, source{stub: stubs.RuntimeHeap}) != flat {
				found, is = n, v.truth.yes
			}
		}
		return found != nil
	})
	return found, is
}
