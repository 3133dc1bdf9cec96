package instrument

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// A function may acquire a lock that another function releases: its caller holds the lock in
// between. So calls of these functions of the package count as acquisitions and releases.

// passing is an operation on a lock of the function's receiver, of a parameter, or of the package.
type passing struct {
	param int    // index in the list of parameters, or one of these:
	path  string // from there to the lock, such as ".mu"
	// the names of the lock and its release, with a placeholder for the lock's expression
	form   string
	paired bool // see pairs
}

const (
	ofReceiver = -1
	ofPackage  = -2
	mark       = "\x00"
)

// passes describes the effect of a function's calls on locks.
type passes struct {
	// leaves: it returns with the lock held; frees: it releases a caller's lock
	leaves, frees *passing
	releaser      int // index of the result that releases the lock it leaves held, or -1
	// the name of the lock it leaves held, and the lock's expression, in the function
	what, text string
	// its result says whether it has acquired the lock, see lockCall
	tries, failsIf bool
}

// passLocks finds the functions that acquire or release locks for their callers, and reports
// whether there are any.
func (r *rewriter) passLocks() bool {
	for range 3 { // its caller may itself pass the lock on
		known := len(r.passing)
		for _, c := range r.codes {
			if c.decl == nil {
				continue
			}
			if obj := r.info.Defs[c.decl.Name]; obj != nil && r.passing[obj] == nil {
				if p := r.passesOf(c); p != nil {
					r.passing[obj] = p
				}
			}
		}
		if len(r.passing) == known {
			break
		}
	}
	return len(r.passing) > 0
}

func (r *rewriter) passesOf(c *code) *passes {
	all := allLockCalls(r.lockNodes(c.body), r.lockCallOf)
	for _, call := range all {
		if slices.ContainsFunc(all, func(other lockCall) bool { return other.what == call.what && other.acquires != call.acquires }) ||
			call.acquires && call.deferred || r.handsOn(c, call.what) {
			continue
		}
		how := r.relative(c, call)
		switch {
		case how == nil:
		case !call.acquires:
			return &passes{frees: how, releaser: -1}
		case !call.paired || r.isReleased(call):
			return &passes{
				leaves: how, releaser: r.releaserOf(c, call.what), what: call.what, text: call.lock,
				tries: call.tries && c.returnsOnly(call.node), failsIf: call.failsIf,
			}
		}
	}
	return nil
}

// returnsOnly reports whether the node is all that the function does, and its result.
func (c *code) returnsOnly(n ast.Node) bool {
	if len(c.body.List) != 1 {
		return false
	}
	ret, ok := c.body.List[0].(*ast.ReturnStmt)
	return ok && len(ret.Results) == 1 && ast.Unparen(ret.Results[0]) == n
}

// leftBy returns the name of the lock that a function leaves held, or "". A flag may be set, and a
// counter raised, for as long as a goroutine runs that the function starts.
func (r *rewriter) leftBy(c *code) string {
	if c.decl == nil {
		return ""
	}
	if p := r.passing[r.info.Defs[c.decl.Name]]; p != nil && p.leaves != nil && !isAtomic(p.what) {
		return p.what
	}
	return ""
}

// relative returns the lock of a call as named outside the function, or nil if the lock is not
// visible there.
func (r *rewriter) relative(c *code, call lockCall) *passing {
	on := call.expr
	if _, byText := r.byText(call.node); on == nil || !byText {
		return nil
	}
	text := types.ExprString(on)
	if strings.ContainsAny(text, "[(") {
		return nil
	}
	first, _, _ := strings.Cut(text, ".")
	p := &passing{param: ofPackage, path: text, form: strings.Replace(call.what, text, mark, 1), paired: call.paired}
	v, _ := r.root(on)
	switch {
	case v == nil || v.Name() != first:
		return nil
	case v.Parent() == r.types.Scope():
		return p
	}
	p.path = text[len(first):]
	if c.decl.Recv != nil && r.isIn(c.decl.Recv, v) == 0 {
		p.param = ofReceiver
		return p
	}
	p.param = r.isIn(c.typ.Params, v)
	if p.param < 0 {
		return nil
	}
	return p
}

// isIn returns the index of the field that declares a variable, or -1.
func (r *rewriter) isIn(fields *ast.FieldList, v types.Object) int {
	i := 0
	for _, f := range fields.List {
		for _, name := range f.Names {
			if r.info.Defs[name] == v {
				return i
			}
			i++
		}
		if len(f.Names) == 0 {
			i++
		}
	}
	return -1
}

// handsOn reports whether a goroutine started by the function releases the lock.
func (r *rewriter) handsOn(c *code, what string) (found bool) {
	ast.Inspect(c.body, func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok {
			if lit, ok := ast.Unparen(g.Call.Fun).(*ast.FuncLit); ok {
				found = found || r.frees(lit, what)
			}
		}
		return !found
	})
	return found
}

func (r *rewriter) frees(lit *ast.FuncLit, what string) bool {
	return slices.ContainsFunc(allLockCalls(r.lockNodes(lit.Body), r.byText), func(c lockCall) bool { return !c.acquires && c.what == what })
}

// releaserOf returns the index of the function's first result of function type, if a returned
// literal or method releases the lock that the function leaves held.
func (r *rewriter) releaserOf(c *code, what string) int {
	released := false
	ast.PreorderStack(c.body, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			released = released || useOf(n, stack) == kept && r.frees(n, what)
		case *ast.ReturnStmt:
			released = released || slices.ContainsFunc(n.Results, func(e ast.Expr) bool { return types.ExprString(e) == what })
		}
		return true
	})
	results := c.typ.Results
	if !released || results == nil {
		return -1
	}
	i := 0
	for _, f := range results.List {
		if t := r.info.TypeOf(f.Type); t != nil {
			if _, ok := t.Underlying().(*types.Signature); ok {
				return i
			}
		}
		i += max(len(f.Names), 1)
	}
	return -1
}

// isReleased reports whether the package releases a semaphore through an expression that names the
// same field or variable. Only callers that reset a flag hold it, so a flag needs no such code.
func (r *rewriter) isReleased(acquired lockCall) bool {
	if isAtomic(acquired.what) {
		return true
	}
	at := r.object(ast.Unparen(acquired.expr))
	return at != nil && slices.ContainsFunc(r.codes, func(c *code) bool {
		return slices.ContainsFunc(allLockCalls(r.lockNodes(c.body), lockCallOf), func(call lockCall) bool {
			return !call.acquires && call.paired && call.expr != nil && r.object(ast.Unparen(call.expr)) == at
		})
	})
}
