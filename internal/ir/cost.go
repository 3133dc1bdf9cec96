package ir

import "math"

// costs is the cost table: the steps of one execution of each operation, without its operands.
// Bound adds them up along the most expensive path and Interpret along the actual path, so no run
// can exceed its bound. A step of a compiled policy takes 0.1 to 0.5 ns once its code is in the
// cache (BenchmarkStep in package isolate). No operation is free, so a bound on the steps also
// bounds the length of the path.
var costs = [...]int{
	OpConst:   1,
	OpRead:    1,
	OpLocal:   1,
	OpLet:     1,
	OpNot:     1,
	OpNeg:     2,
	OpAnd:     1,
	OpOr:      1,
	OpAdd:     2,
	OpSub:     2,
	OpMul:     4,
	OpDiv:     12,
	OpMod:     12,
	OpEq:      1,
	OpNe:      1,
	OpLt:      1,
	OpLe:      1,
	OpGt:      1,
	OpGe:      1,
	OpIf:      1,
	OpFloat:   2,
	OpInt:     3,
	OpRetype:  1,
	OpMin:     2,
	OpMax:     2,
	OpSqrt:    12,
	OpIn:      16,
	OpMix:     12,
	OpAny:     3,
	OpAll:     3,
	OpNone:    3,
	OpCount:   3,
	OpEffect:  3,
	OpTake:    6,
	OpSeq:     1,
	OpVerdict: 1,
}

// ElementCost is the cost of a quantifier for each element, in addition to its predicate.
const ElementCost = 3

// Cost returns the steps of one execution of op, without its operands. An unknown operation has the
// greatest cost.
func Cost(op Op) int {
	if int(op) < len(costs) {
		return costs[op]
	}
	return math.MaxInt
}

// Bound returns the greatest number of steps that an evaluation of the tree n can take: the
// costlier branch of every if, every element of every quantifier, no short-circuit. It saturates at
// math.MaxInt. A nil node costs nothing.
func Bound(n *Node) int {
	if n == nil {
		return 0
	}
	cost := Cost(n.Op)
	switch n.Op {
	case OpIf:
		return saturatingAdd(cost, saturatingAdd(Bound(n.A), max(Bound(n.B), Bound(n.C))))
	case OpAny, OpAll, OpNone, OpCount:
		return saturatingAdd(cost, saturatingMul(n.Source.Bound(), saturatingAdd(ElementCost, Bound(n.B))))
	}
	return saturatingAdd(cost, saturatingAdd(Bound(n.A), saturatingAdd(Bound(n.B), Bound(n.C))))
}

// saturatingAdd adds non-negative numbers.
func saturatingAdd(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// saturatingMul multiplies non-negative numbers.
func saturatingMul(a, b int) int {
	if b != 0 && a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}
