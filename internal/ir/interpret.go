package ir

import (
	"fmt"
	"math"

	"github.com/cocoon-go/cocoon/stubs"
)

// Interpret evaluates the program over one snapshot: p.Words words laid out according to p.Reads.
// It defines the meaning of the language: the isolate agrees with it, bit for bit, on every program
// and snapshot. It also runs unverified programs, however long they take.
//
// Steps counts the executed operations, at the prices of Cost, up to the error if there is one; it
// never exceeds Bound(p.Root). The error is an *EvalError, or reports that the snapshot has the
// wrong length; the outcome is then the zero Outcome.
//
// Operands are evaluated left to right. A bool read from the snapshot is true unless its word is 0;
// a list longer than its greatest length is truncated to it.
func Interpret(p *Program, snapshot []uint64) (out Outcome, steps int, err error) {
	return Trace(p, snapshot, nil)
}

// Trace is Interpret, and also calls visit, if it is not nil, with each evaluated node.
func Trace(p *Program, snapshot []uint64, visit func(*Node)) (out Outcome, steps int, err error) {
	if len(snapshot) != p.Words {
		return Outcome{}, 0, fmt.Errorf("a snapshot of %d words; the program reads %d", len(snapshot), p.Words)
	}
	m := machine{snapshot: snapshot, locals: make([]uint64, len(p.Locals)), values: make([]uint64, len(p.Sites)), visit: visit, sets: p.Sets}
	verdict, err := m.eval(p.Root)
	if err != nil {
		return Outcome{}, m.steps, err
	}
	decision, reason := splitVerdict(verdict)
	return Outcome{Decision: decision, Reason: reason, Retry: m.retry, Fired: m.fired, Values: m.values}, m.steps, nil
}

// machine is the state of one evaluation.
type machine struct {
	snapshot []uint64
	locals   []uint64
	fired    uint64
	values   []uint64
	retry    int64
	steps    int
	visit    func(*Node)
	sets     []Set
}

// eval returns the word of the node's value: 0 for Unit, verdictWord for Verdict.
func (m *machine) eval(n *Node) (uint64, error) {
	m.steps += Cost(n.Op)
	if m.visit != nil {
		m.visit(n)
	}
	switch n.Op {
	case OpConst:
		return n.Imm, nil
	case OpVerdict:
		return m.verdict(n)
	case OpRead:
		if n.Type == stubs.Bool {
			return stubs.FromBool(m.snapshot[n.Index] != 0), nil
		}
		return m.snapshot[n.Index], nil
	case OpLocal:
		return m.locals[n.Index], nil
	case OpAny, OpAll, OpNone, OpCount:
		return m.quantify(n)
	case OpEffect:
		return m.effect(n)
	case OpTake:
		return m.take(n)
	}
	return m.operation(n)
}

// operation evaluates the first operand of a node, and then the node.
func (m *machine) operation(n *Node) (uint64, error) {
	a, err := m.eval(n.A)
	if err != nil {
		return 0, err
	}
	switch n.Op {
	case OpLet:
		m.locals[n.Index] = a
		return m.eval(n.B)
	case OpSeq:
		return m.eval(n.B)
	case OpIf:
		if a != 0 {
			return m.eval(n.B)
		}
		return m.eval(n.C)
	case OpAnd:
		if a == 0 {
			return 0, nil
		}
		return m.eval(n.B)
	case OpOr:
		if a != 0 {
			return 1, nil
		}
		return m.eval(n.B)
	case OpNot:
		return stubs.FromBool(a == 0), nil
	case OpIn:
		return stubs.FromBool(m.sets[n.Index].Has(a)), nil
	case OpRetype:
		return a, nil
	case OpNeg, OpFloat, OpInt, OpSqrt:
		return applyUnary(n, a)
	}
	b, err := m.eval(n.B)
	if err != nil {
		return 0, err
	}
	if n.Type == stubs.Bool {
		return stubs.FromBool(Compare(n.Op, n.A.Type, a, b)), nil
	}
	return applyBinary(n, a, b)
}

// verdict records the time after which a throw may be tried again.
func (m *machine) verdict(n *Node) (uint64, error) {
	if n.A != nil {
		word, err := m.eval(n.A)
		if err != nil {
			return 0, err
		}
		m.retry = int64(word)
	}
	return verdictWord(n), nil
}

// quantify evaluates a quantifier. It stops at the first element that decides the result.
func (m *machine) quantify(n *Node) (uint64, error) {
	count := uint64(0)
	for i := range m.length(n.Source) {
		m.steps += ElementCost
		m.locals[n.Index] = m.element(n.Source, i)
		holds, err := m.eval(n.B)
		if err != nil {
			return 0, err
		}
		switch {
		case n.Op == OpAny && holds != 0:
			return 1, nil
		case n.Op == OpAll && holds == 0, n.Op == OpNone && holds != 0:
			return 0, nil
		}
		count += holds
	}
	if n.Op == OpCount {
		return count, nil
	}
	return stubs.FromBool(n.Op != OpAny), nil
}

// length returns the number of elements of s: for a list, its length word as an unsigned number, at
// most s.Max.
func (m *machine) length(s Source) int {
	if s.List {
		return int(min(m.snapshot[s.Offset], uint64(s.Max)))
	}
	return s.Bound()
}

func (m *machine) element(s Source, i int) uint64 {
	if s.List {
		return m.snapshot[s.Offset+1+i]
	}
	return uint64(s.Lo) + uint64(i)
}

// effect records that the site fired, with its operand; if a site fires twice, the last operand
// counts. A NaN operand is an error, because it would stay in the state and spread to values
// computed from it. So no NaN leaves an evaluation; IEEE 754 leaves the sign and payload of a NaN
// to the processor.
func (m *machine) effect(n *Node) (uint64, error) {
	if n.A != nil {
		word, err := m.eval(n.A)
		if err != nil {
			return 0, err
		}
		if n.A.Type == stubs.Float && math.IsNaN(math.Float64frombits(word)) {
			return 0, &EvalError{Pos: n.Pos, Err: ErrNotANumber}
		}
		m.values[n.Index] = word
	}
	m.fired |= 1 << n.Index
	return 0, nil
}

// take takes tokens, if the bucket has enough.
func (m *machine) take(n *Node) (uint64, error) {
	word, err := m.eval(n.A)
	if err != nil {
		return 0, err
	}
	tokens := math.Float64frombits(word)
	if !(tokens >= 0) {
		return 0, &EvalError{Pos: n.Pos, Err: ErrTokens}
	}
	has, err := m.eval(n.B)
	if err != nil || !(math.Float64frombits(has) >= tokens) {
		return 0, err
	}
	m.values[n.Index] = word
	m.fired |= 1 << n.Index
	return 1, nil
}

// verdictWord packs a verdict into a word: the decision in the low byte, a throw's reason above it.
func verdictWord(n *Node) uint64 {
	if stubs.Decision(n.Imm) == stubs.Throw {
		return n.Imm | uint64(n.Index)<<8
	}
	return n.Imm
}

func splitVerdict(word uint64) (stubs.Decision, int) {
	return stubs.Decision(word & 0xff), int(word >> 8)
}
