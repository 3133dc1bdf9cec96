package instrument

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// A flag or a counter of package sync/atomic may serve as a lock:
//
//	if !c.refreshing.CompareAndSwap(false, true) {
//		return
//	}
//	…
//	c.refreshing.Store(false)
//
// It counts as a semaphore, see pairs: only if the function also resets it, itself or through a
// function of the package, and no deferred call does. Other goroutines may act on the flag, and a
// throw in between would leave it set permanently.

// The names of an atomic that serves as a lock. A flag and a counter are different locks even if
// they are the same variable.
const (
	aFlag    = "?"
	aCounter = "#"
)

// isAtomic reports whether the name denotes a flag or a counter.
func isAtomic(what string) bool {
	return strings.HasPrefix(what, aFlag) || strings.HasPrefix(what, aCounter)
}

// byText returns the effect of a node on a lock, by its name or as a flag or counter.
func (r *rewriter) byText(n ast.Node) (c lockCall, ok bool) {
	if c, ok = lockCallOf(n); ok {
		return c, true
	}
	if call, isCall := n.(*ast.CallExpr); isCall {
		return r.flagCall(call)
	}
	return c, false
}

// flagCall returns the effect of a call of package sync/atomic on a flag or a counter, if it has
// one that the text shows: all values are constants, or a bit of the old value is set or cleared.
func (r *rewriter) flagCall(call *ast.CallExpr) (c lockCall, ok bool) {
	op, on, args := r.atomicCall(call)
	c = lockCall{node: call, paired: true, release: "atomic"}
	switch {
	case op == "CompareAndSwap" && len(args) == 2 && bitOp(args[1]) != token.ILLEGAL:
		c.acquires, c.tries, ok = bitOp(args[1]) == token.OR, true, true
	case op == "CompareAndSwap" && len(args) == 2:
		was, isOld := r.sign(args[0])
		is, isNew := r.sign(args[1])
		c.acquires, c.tries = was == 0 && is != 0, true
		ok = isOld && isNew && (was == 0) != (is == 0)
	case op == "Swap" && len(args) == 1:
		is, isConstant := r.sign(args[0])
		c.acquires, c.tries, c.failsIf = is != 0, true, true
		ok = isConstant
	case op == "Store" && len(args) == 1:
		_, ok = r.sign(args[0])
		ok = ok || bitOp(args[0]) == token.AND_NOT
	case op == "Add" && len(args) == 1:
		by, isConstant := r.sign(args[0])
		c.acquires, ok = by > 0, isConstant && by != 0
	}
	if !ok {
		return lockCall{}, false
	}
	c.expr, c.lock = on, types.ExprString(on)
	if c.what = aFlag + c.lock; op == "Add" {
		c.what = aCounter + c.lock
	}
	return c, true
}

// atomicOps are the operations of package sync/atomic that write.
var atomicOps = []string{"CompareAndSwap", "Swap", "Store", "Add"}

// atomicCall returns the operation of a call of package sync/atomic that writes, with the variable
// and the values. op is "" for other calls.
func (r *rewriter) atomicCall(call *ast.CallExpr) (op string, on ast.Expr, args []ast.Expr) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return "", nil, nil
	}
	for _, name := range atomicOps {
		if strings.HasPrefix(sel.Sel.Name, name) {
			op = name
		}
	}
	if op == "" {
		return "", nil, nil
	}
	f, ok := r.info.Uses[sel.Sel].(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != "sync/atomic" && f.Pkg().Path() != "internal/runtime/atomic" {
		return "", nil, nil
	}
	if f.Signature().Recv() != nil {
		return op, ast.Unparen(sel.X), call.Args
	}
	if len(call.Args) == 0 {
		return "", nil, nil
	}
	on = ast.Unparen(call.Args[0])
	if address, ok := on.(*ast.UnaryExpr); ok && address.Op == token.AND {
		on = ast.Unparen(address.X)
	}
	return op, on, call.Args[1:]
}

// keptFlags returns the stretches in which the function has set a flag or raised a counter.
func (r *rewriter) keptFlags(c *code) (all []Kept) {
	calls := lockCalls(r.lockNodes(c.body), r.lockCallOf, "")
	for _, set := range calls {
		if !set.acquires || !isAtomic(set.what) {
			continue
		}
		last := 0
		for _, reset := range calls {
			if !reset.acquires && reset.what == set.what {
				last = max(last, r.set.Position(reset.node.Pos()).Line)
			}
		}
		all = append(all, Kept{c.name, r.set.Position(set.node.Pos()), fmt.Sprintf("%s is taken like a lock, and reset as far as line %d", set.lock, last)})
	}
	return all
}

// bitOp returns OR for x|y and AND_NOT for x&^y, and otherwise ILLEGAL.
func bitOp(e ast.Expr) token.Token {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && (b.Op == token.OR || b.Op == token.AND_NOT) {
		return b.Op
	}
	return token.ILLEGAL
}

// sign returns the sign of a constant. true counts as 1, nil as 0, and the largest number of an
// unsigned type as -1.
func (r *rewriter) sign(e ast.Expr) (sign int, ok bool) {
	tv := r.info.Types[e]
	switch {
	case tv.IsNil():
		return 0, true
	case tv.Value == nil:
		return 0, false
	case tv.Value.Kind() == constant.Bool:
		if constant.BoolVal(tv.Value) {
			return 1, true
		}
		return 0, true
	case tv.Value.Kind() != constant.Int:
		return 0, false
	}
	if basic, ok := core(tv.Type).(*types.Basic); ok && basic.Info()&types.IsUnsigned != 0 && constant.BitLen(tv.Value) == bitsOf(basic) {
		return -1, true // atomic.AddUint32(&n, ^uint32(0))
	}
	return constant.Sign(tv.Value), true
}

func bitsOf(t *types.Basic) int {
	if t.Kind() == types.Uint32 {
		return 32
	}
	return 64
}
