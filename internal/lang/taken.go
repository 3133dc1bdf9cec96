package lang

import (
	"fmt"
	"math"
	"strconv"

	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// nameRead returns the read of x, if x is a name that a state stub reads. Kinds and states do not
// count.
func (l *lowerer) nameRead(x value) (key readKey, ok bool) {
	if x.node.Op != ir.OpRead || x.node.Type != stubs.Name || x.enum {
		return key, false
	}
	for k, i := range l.reads {
		if l.prog.Reads[i].Offset == x.node.Index {
			key = k
		}
	}
	return key, key.id != stubs.State
}

// taken makes the read of a value computed from the name that key reads. Only the writer of the
// snapshot knows the text of a name, so the name itself need not be in the snapshot if it was first
// read here.
func (l *lowerer) taken(n ast.Node, name, taken readKey, first bool, t stubs.Type) *ir.Node {
	if last := len(l.prog.Reads) - 1; first {
		delete(l.reads, name)
		l.prog.Reads, l.prog.Words = l.prog.Reads[:last], l.prog.Words-1
	}
	return l.read(n, taken, t, 1)
}

// maxHashed is the greatest number of arguments of hash.
const maxHashed = 4

// hash lowers hash(x, ...): names by the hash of their text, and numbers unchanged.
func (l *lowerer) hash(n ast.Node, args []ast.Node) value {
	if len(args) < 1 || len(args) > maxHashed {
		l.refuse(n, "", "hash takes 1 to %d arguments, not %d", maxHashed, len(args))
	}
	h := l.constant(n, stubs.Int, 0)
	for _, an := range args {
		reads := len(l.prog.Reads)
		x := l.value(an)
		var word *ir.Node
		name, ok := l.nameRead(x)
		switch {
		case x.constText:
			word = l.constant(an, stubs.Int, ir.Hash(x.text))
		case ok:
			taken := name
			taken.taken = ir.TakenHash
			word = l.taken(an, name, taken, len(l.prog.Reads) > reads, stubs.Int)
		case x.node.Type == stubs.Int:
			word = x.node
		default:
			l.refuse(an, "write task.name, task.labels.NAME or another state stub, a string or a count",
				"hash takes names that a state stub reads, strings and plain numbers, and %s is %s", l.excerpt(an), describe(x))
		}
		h = l.folded(n, ir.OpMix, stubs.Int, h, word)
	}
	return value{node: h}
}

// number lowers int(x) and float(x) of a name, with or without a default; reads is the number of
// reads before x.
func (l *lowerer) number(n ast.Node, function string, args []ast.Node, x value, reads int) value {
	name, ok := l.nameRead(x)
	if !ok {
		l.refuse(args[0], "write task.labels.NAME or another state stub", "%s takes numbers, and names that a state stub reads, and %s is %s", function, l.excerpt(args[0]), describe(x))
	}
	first := len(l.prog.Reads) > reads
	taken, t := name, stubs.Int
	if taken.taken = ir.TakenInt; function == "float" {
		taken.taken, t = ir.TakenFloat, stubs.Float
	}
	if len(args) == 2 {
		v := l.adapt(args[1], l.value(args[1]), value{node: &ir.Node{Type: t}})
		if !v.constant() || v.node.Type != t {
			l.refuse(args[1], "write it out, as in "+function+"(task.labels.level, 3)", "the default is a plain constant, and %s is %s", l.excerpt(args[1]), describe(v))
		}
		taken.fallback = v.node.Imm
	}
	return value{node: l.taken(n, name, taken, first, t)}
}

// chance lowers chance(p) to a comparison of a draw with p. The draw belongs to this place of the
// text, even if the place is lowered more than once.
func (l *lowerer) chance(n ast.Node, args []ast.Node) value {
	l.arguments(n, "chance", args, 1)
	p := l.adapt(args[0], l.value(args[0]), value{node: &ir.Node{Type: stubs.Float}})
	if p.node.Type != stubs.Float {
		l.refuse(args[0], unitHint(p, l.excerpt(args[0]), stubs.Float), "a probability is a float, and %s is %s", l.excerpt(args[0]), describe(p))
	}
	if f := math.Float64frombits(p.node.Imm); p.constant() && !(f >= 0 && f <= 1) {
		hint := "write a share of 0 to 1, as in chance(0.05)"
		if 1 < f && f <= 100 {
			hint = fmt.Sprintf("write chance(%v) for %v%%", f/100, f)
		}
		l.refuse(args[0], hint, "the probability %s is not between 0 and 1", l.excerpt(args[0]))
	}
	pos, _ := l.place(n)
	if l.draws[pos] == "" {
		l.draws[pos] = strconv.Itoa(1 + len(l.draws))
	}
	draw := l.read(n, readKey{id: stubs.Draw, key: l.draws[pos]}, stubs.Float, 1)
	return value{node: l.folded(n, ir.OpLt, stubs.Bool, draw, p.node)}
}
