package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// isGlue reports whether cgo generated the function. Its file may have any name, but its functions
// have these names.
func isGlue(c *code) bool {
	return strings.HasPrefix(c.name, "_C") || strings.HasPrefix(c.name, "_cgo")
}

// ofNode returns the gap of a single operation, which is always unbounded: a call that leaves
// instrumented code, a wait, or an operation that takes longer with more data.
func (s *survey) ofNode(n ast.Node, around []ast.Node) (g Gap, ok bool) {
	switch n := n.(type) {
	case *ast.CallExpr:
		return s.ofCall(n)
	case *ast.SendStmt:
		g = Gap{Kind: GapWait, Why: "it may wait to send"}
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			g = Gap{Kind: GapWait, Why: "it may wait to receive"}
		}
	case *ast.RangeStmt:
		if t := s.r.info.TypeOf(n.X); t != nil {
			if _, ok := core(t).(*types.Chan); ok {
				g = Gap{Kind: GapWait, Why: "it may wait to receive"}
			}
		}
	case *ast.SelectStmt:
		if !hasDefault(n) {
			g = Gap{Kind: GapWait, Why: "it may wait for its cases"}
		}
	case *ast.BinaryExpr:
		if tv := s.r.info.Types[n]; n.Op == token.ADD && tv.Value == nil && tv.Type != nil && isString(tv.Type) {
			g = Gap{Kind: GapData, Why: "it is as long as the strings that it joins"}
		}
	}
	if g.Kind == GapWait && inSelect(append(slices.Clone(around), n)) {
		return g, false // the select is the wait
	}
	g.Length = Unbounded
	return g, g.Kind != ""
}

func hasDefault(s *ast.SelectStmt) bool {
	for _, c := range s.Body.List {
		if c.(*ast.CommClause).Comm == nil {
			return true
		}
	}
	return false
}

// inSelect reports whether the last of the nodes, each nested in the previous one, is in the
// communication of a select case.
func inSelect(nodes []ast.Node) bool {
	for i, n := range nodes {
		if c, ok := n.(*ast.CommClause); ok && i+1 < len(nodes) && nodes[i+1] == c.Comm {
			return true
		}
	}
	return false
}

// ofCall returns the gap of a call, unless the callee polls or is swift.
func (s *survey) ofCall(call *ast.CallExpr) (g Gap, ok bool) {
	how, c, f := s.r.callee(call)
	switch how {
	case own:
		name, isC := cName(c)
		return Gap{Kind: GapCgo, Why: "calls C." + name, Length: Unbounded}, isC
	case builtin:
		id, _ := ast.Unparen(call.Fun).(*ast.Ident)
		if id == nil || !moves[id.Name] || s.r.bulks[call] {
			return g, false
		}
		return Gap{Kind: GapData, Why: id.Name + " is as long as its data", Length: Unbounded}, true
	case conversion:
		return Gap{Kind: GapData, Why: "the conversion is as long as the string", Length: Unbounded}, s.copies(call)
	}
	if f == nil || f.Pkg() == nil || s.r.costOfCall(call) < endless {
		return g, false
	}
	if f.Pkg() == s.r.types {
		return Gap{Kind: GapCall, Why: "calls " + f.Name() + ", which has no Go text", Length: Unbounded}, true
	}
	pkg := f.Pkg().Path()
	switch {
	case s.r.opt.Instrumented != nil && s.r.opt.Instrumented(pkg):
		return g, false
	case pkg == "sync" && isUnlock[f.Name()]:
		return g, false
	case pkg == "sync" && unlocks[f.Name()] != "":
		return Gap{Kind: GapWait, Why: "it may wait for the lock", Length: Unbounded}, true
	}
	return Gap{Kind: GapCall, Why: "calls " + f.FullName() + ", not instrumented", Length: Unbounded, Package: pkg}, true
}

// cName returns the name of the C function that generated code calls.
func cName(c *code) (name string, ok bool) {
	if name, ok = strings.CutPrefix(c.name, "_Cfunc_"); !ok {
		name, ok = strings.CutPrefix(c.name, "_C2func_") // with errno
	}
	return name, ok
}

// moves are the builtin functions that touch all their data.
var moves = map[string]bool{"append": true, "copy": true, "clear": true, "make": true}

// copies reports whether a conversion copies text: between a string and a slice.
func (s *survey) copies(call *ast.CallExpr) bool {
	tv := s.r.info.Types[call]
	if tv.Value != nil || tv.Type == nil || len(call.Args) != 1 || s.r.info.TypeOf(call.Args[0]) == nil {
		return false
	}
	to, from := core(tv.Type), core(s.r.info.TypeOf(call.Args[0]))
	_, fromSlice := from.(*types.Slice)
	_, toSlice := to.(*types.Slice)
	return fromSlice && isText(to) || toSlice && isText(from)
}

func isText(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// underLock returns the gap of a call under a lock or in a similar stretch: polls in the callee are
// not safe points, or only for a throw.
func (s *survey) underLock(c *code, n ast.Node) (g Gap, ok bool) {
	call, isCall := n.(*ast.CallExpr)
	if !isCall || c.exempt != "" || s.r.costOfCall(call) < endless {
		return g, false
	}
	why := s.whyKept(c, n.Pos())
	name := types.ExprString(call.Fun)
	if last := name[strings.LastIndexByte(name, '.')+1:]; why == "" || isUnlock[last] || unlocks[last] != "" {
		return g, false
	}
	return Gap{Kind: GapLock, Why: "calls " + name + " while " + why, Length: Unbounded}, true
}

// loopUnderLock returns the gap of a loop that polls under a lock.
func (s *survey) loopUnderLock(c *code, l *loop) (g Gap, ok bool) {
	why := s.whyKept(c, bodyOf(l.stmt).Lbrace)
	return Gap{Kind: GapLock, Why: "it polls while " + why, Length: Unbounded}, (l.polls || l.every > 0) && why != ""
}

// whyKept returns the reason why polls at p and in callees there are not safe points for every
// request, or "".
func (s *survey) whyKept(c *code, p token.Pos) string {
	if why := c.whyNot(p); why != "" {
		return why
	}
	switch h := c.heldAt(p); {
	case h == nil:
		return ""
	case h.released == given:
		return "a lock is given up for a while: it may be suspended"
	}
	return "a lock is held, which a deferred call releases: it may be thrown into, late"
}
