package instrument

import (
	"go/ast"
	"go/token"
	"slices"
)

// code is the body of one function declaration or literal, without the literals inside it.
type code struct {
	file *file
	name string        // such as "(*T).M", and "(*T).M.func1" for its first literal
	decl *ast.FuncDecl // nil for a literal
	// the function around a literal; it has no body if a variable's value has the literal
	outer    *code
	lit      *ast.FuncLit // nil for a declaration
	use      use          // of the literal
	typ      *ast.FuncType
	body     *ast.BlockStmt
	exempt   string // why it never polls, or ""
	held     []hold // stretches in which it, or the function around it, holds locks
	releases bool   // it releases a caller's lock
	// stretches in which it, or the function around it, owes goroutines to a wait group
	owed   []span
	kept   []keptStretch
	fanned []*fannedStretch // nodes behind which it waits for goroutines
	byHand []*fannedStretch // nodes at which it has a resource that no deferred call will release
	defers []*ast.DeferStmt
	// calls of functions such as context.AfterFunc, and literals that the function calls or starts
	registers []*ast.CallExpr
	runs      []*code
	args      []ast.Expr     // of the call of a literal
	loose     []looseStretch // nodes
	heads     []looseStretch // loops
	loops     []*loop
	calls     []*call
	polls     []token.Pos // statements with a poll before them, other than in loops
	left      []left      // places that should poll, and must not
	careful   int         // number of times that the compiler has refused it, see beCareful
	moved     []span      // tokens that have another line's number
	weight    int         // its cost, see bound
	inner     int         // number of literals so far
	order     []visit     // what walk visits
	deepest   int         // the largest depth in order
	inlining  int         // lower bound of the inliner's count, see leastUnits; 0: unknown
}

// The reasons why code never polls while a package is initialised.
const (
	initialisesPackage   = "the package is being initialised"
	initialisesVariables = "package variables are being initialised"
)

// initialises reports whether the function runs only during initialisation.
func initialises(c *code) bool {
	return c.exempt == initialisesPackage || c.exempt == initialisesVariables
}

// span is a stretch of source, ends included.
type span struct{ from, to token.Pos }

func (s span) has(p token.Pos) bool { return s.from <= p && p <= s.to }

// spansAround returns the part of the stretches that covers a literal.
func spansAround(spans []span, lit *ast.FuncLit) []span {
	if anyHas(spans, lit.Pos()) {
		return []span{{lit.Pos(), lit.End()}}
	}
	return nil
}

func anyHas(spans []span, p token.Pos) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.has(p) })
}

// visit is a node, with the number of its enclosing nodes.
type visit struct {
	node  ast.Node
	depth int
}

// walk visits the nodes of c's body, each with its enclosing nodes, and omits nodes of literals.
// Each function is walked some ten times, so walk remembers the order: ast.PreorderStack takes
// several times as long.
func (c *code) walk(see func(n ast.Node, stack []ast.Node)) {
	order := c.inOrder()
	stack := make([]ast.Node, 0, c.deepest+1)
	for _, v := range order {
		stack = stack[:v.depth]
		see(v.node, stack)
		stack = append(stack, v.node)
	}
}

func (c *code) inOrder() []visit {
	if c.order == nil {
		ast.PreorderStack(c.body, nil, func(n ast.Node, stack []ast.Node) bool {
			if _, ok := n.(*ast.FuncLit); ok {
				return false
			}
			c.order = append(c.order, visit{n, len(stack)})
			c.deepest = max(c.deepest, len(stack))
			return true
		})
	}
	return c.order
}

// isStuck reports whether a lock is held at p that would stay locked after a throw.
func (c *code) isStuck(p token.Pos) bool {
	h := c.heldAt(p)
	return h != nil && h.released == byItself
}

// whyNot returns the reason why no poll may stand at p, or "".
func (c *code) whyNot(p token.Pos) string {
	switch {
	case c.exempt != "":
		return c.exempt
	case c.isStuck(p):
		return "a lock is held"
	case anyHas(c.owed, p):
		return "a wait group is owed goroutines"
	}
	return ""
}
