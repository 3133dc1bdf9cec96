package analyzer

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// amount is the sum that effects add to a state: multiples of state stubs, by their text, and under
// "" a number. A stub that a task keeps has one text, whether the task arrives or runs.
type amount map[string]float64

// oneself is the text of the state that an amount is added to.
const oneself = "\x00"

func (a amount) plus(b amount, times float64) amount {
	sum := maps.Clone(a)
	if sum == nil {
		sum = amount{}
	}
	for text, n := range b {
		if sum[text] += n * times; sum[text] == 0 {
			delete(sum, text)
		}
	}
	return sum
}

// number returns the amount if it is a plain number.
func (a amount) number() (n float64, plain bool) {
	n, has := a[""]
	return n, len(a) == 0 || len(a) == 1 && has
}

// show writes the amount as a value of the type.
func (a amount) show(of stubs.Type) string {
	var parts []string
	for _, text := range slices.Sorted(maps.Keys(a)) {
		switch n := a[text]; {
		case text == "" && of == stubs.Duration:
			parts = append(parts, time.Duration(n).String())
		case text == "":
			parts = append(parts, fmt.Sprint(n))
		case n == 1:
			parts = append(parts, text)
		case n == -1:
			parts = append(parts, "-"+text)
		default:
			parts = append(parts, fmt.Sprintf("%v * %s", n, text))
		}
	}
	if len(parts) == 0 {
		return "0"
	}
	return strings.Join(parts, " + ")
}

// sum computes the amounts of a program's effects on one state.
type sum struct {
	p       *ir.Program
	state   string
	lets    map[int]*ir.Node
	known   map[int]amount // of locals, for one effect; nil: not known
	bounded bool           // some effect keeps the state within a bound, as in max(state.n - 1, 0)
}

func newSum(p *ir.Program, state string) *sum {
	s := &sum{p: p, state: state, lets: map[int]*ir.Node{}}
	p.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpLet {
			s.lets[n.Index] = n.A
		}
		return false
	})
	return s
}

// effect returns the amount that the effect n adds to the state; ok is false if it is not known.
func (s *sum) effect(n *ir.Node) (a amount, ok bool) {
	s.known = map[int]amount{}
	a, ok = s.of(n.A, s.p.Sites[n.Index].By)
	self := 0.0
	if s.p.Sites[n.Index].Effect == stubs.Set {
		self = 1
	}
	if !ok || a[oneself] != self {
		return nil, false
	}
	return a.plus(amount{oneself: self}, -1), true
}

// of returns the value of n as an amount. by is the key under which the effect writes.
func (s *sum) of(n *ir.Node, by *ir.KeyOf) (a amount, ok bool) {
	switch n.Op {
	case ir.OpConst:
		f := float64(int64(n.Imm))
		if n.Type == stubs.Float {
			f = math.Float64frombits(n.Imm)
		}
		return amount{}.plus(amount{"": f}, 1), true
	case ir.OpRead:
		return s.read(n, by)
	case ir.OpLocal:
		a, followed := s.known[n.Index]
		if value := s.lets[n.Index]; !followed && value != nil {
			if a, ok = s.of(value, by); !ok {
				a = nil
			}
			s.known[n.Index] = a
		}
		return a, a != nil
	case ir.OpLet:
		return s.of(n.B, by)
	case ir.OpFloat, ir.OpRetype:
		return s.of(n.A, by)
	case ir.OpNeg:
		a, ok = s.of(n.A, by)
		return amount{}.plus(a, -1), ok
	case ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpMin, ir.OpMax:
		x, okX := s.of(n.A, by)
		y, okY := s.of(n.B, by)
		if !okX || !okY {
			return nil, false
		}
		if n.Op == ir.OpMin || n.Op == ir.OpMax {
			if b, ok := s.bound(n, x, y); ok {
				return b, true
			}
		}
		return s.operation(n.Op, x, y)
	case ir.OpIf: // max, min or clamp of ints
		x, okX := s.of(n.B, by)
		y, okY := s.of(n.C, by)
		if !isLowered(n) || !okX || !okY {
			return nil, false
		}
		if b, ok := s.bound(n, x, y); ok {
			return b, true
		}
		return s.operation(ir.OpMin, x, y)
	}
	return nil, false
}

// bound returns the amount of max, min or clamp without the state in it: one that has a text of its
// own, such as max(task.priority, 1).
func (s *sum) bound(n *ir.Node, x, y amount) (a amount, ok bool) {
	text := kept(s.p.Text[n.Pos:min(n.End, len(s.p.Text))])
	return amount{text: 1}, x[oneself] == 0 && y[oneself] == 0 && text != ""
}

func (s *sum) operation(op ir.Op, x, y amount) (a amount, ok bool) {
	switch op {
	case ir.OpAdd:
		return x.plus(y, 1), true
	case ir.OpSub:
		return x.plus(y, -1), true
	case ir.OpMul:
		if n, plain := x.number(); plain {
			return amount{}.plus(y, n), true
		}
		n, plain := y.number()
		return amount{}.plus(x, n), plain
	}
	if x[oneself] == 0 {
		x, y = y, x
	}
	s.bounded = true
	return x, x[oneself] != 0 && y[oneself] == 0
}

// read returns the amount of a read. A state other than the counted one has an unknown amount.
func (s *sum) read(n *ir.Node, by *ir.KeyOf) (a amount, ok bool) {
	for _, r := range s.p.Reads {
		switch {
		case r.Offset != n.Index:
		case r.Stub == stubs.State && r.Key == s.state && sameKey(r.By, by):
			return amount{oneself: 1}, true
		case r.Stub < stubs.State:
			return amount{kept(r.String()): 1}, true
		}
	}
	return nil, false
}

// kept replaces the stubs of the arriving task that a task keeps by the stubs of a running task.
func kept(text string) string {
	return strings.NewReplacer("arriving.labels", "task.labels", "arriving.priority", "task.priority").Replace(text)
}
