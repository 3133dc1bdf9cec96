package instrument

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// code is the body of one function declaration or literal, without the literals inside it.
type code struct {
	file *file
	name string        // such as "(*T).M", and "(*T).M.func1" for its first literal
	decl *ast.FuncDecl // nil for a literal
	// the function around a literal; it is no code of the package for a variable
	outer    *code
	lit      *ast.FuncLit // nil for a declaration
	use      use          // of the literal
	typ      *ast.FuncType
	body     *ast.BlockStmt
	exempt   string // why it never polls, or ""
	held     []hold // stretches in which it, or the function around it, holds locks
	releases bool   // it releases a caller's lock
	// stretches in which it, or the function around it, owes goroutines to a wait group
	owed     []span
	kept     []keptStretch
	defers   []*ast.DeferStmt
	loose    []looseStretch // nodes
	heads    []looseStretch // loops
	loops    []*loop
	calls    []*call
	polls    []token.Pos // statements with a poll before them, other than in loops
	left     []left      // places that should poll, and must not
	careful  int         // number of times that the compiler has refused it, see beCareful
	moved    []span      // tokens that have another line's number
	weight   int         // its cost, see bound
	inner    int         // number of literals so far
	order    []visit     // what walk visits
	deepest  int         // the largest depth in order
	inlining int         // lower bound of the inliner's count, see leastUnits; 0: unknown
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

// collect finds the functions of a file.
func (r *rewriter) collect(f *file) {
	marks := directivesOf(r.set, f)
	for _, d := range f.tree.Decls {
		fn, isFunc := d.(*ast.FuncDecl)
		if !isFunc {
			// A literal in the initialiser of a variable runs during initialisation only if it is
			// called immediately.
			r.collectLiterals(&code{file: f, name: "var", exempt: initialisesVariables}, d, r.exempt)
			continue
		}
		if fn.Body == nil {
			continue
		}
		c := &code{file: f, name: nameOf(fn), decl: fn, typ: fn.Type, body: fn.Body}
		always := cmp.Or(r.exempt, marks.exempt(fn))
		if c.exempt = always; fn.Recv == nil && fn.Name.Name == "init" {
			c.exempt = initialisesPackage
		}
		r.add(c)
		if obj := r.info.Defs[fn.Name]; obj != nil {
			r.declared[obj] = c
		}
		r.collectLiterals(c, fn.Body, always)
	}
}

func (r *rewriter) add(c *code) {
	if c.lit != nil && c.use != started {
		c.owed = spansAround(c.outer.owed, c.lit)
	}
	c.owed = append(c.owed, owedIn(c.body, r.lockNodes(c.body))...)
	r.codes = append(r.codes, c)
}

// holdLocks finds the stretches in which the functions hold locks.
func (r *rewriter) holdLocks() {
	for _, c := range r.codes { // a literal comes after the function around it
		if c.lit != nil && c.use != started {
			if h := c.outer.heldAt(c.lit.Pos()); h != nil {
				c.held = []hold{{span{c.lit.Pos(), c.lit.End()}, h.what, h.released}}
			}
		}
		c.held = append(c.held, r.heldIn(c)...)
	}
}

// collectLiterals finds the literals in n, which belongs to outer. always is the reason why all of
// them are exempt, or "".
func (r *rewriter) collectLiterals(outer *code, n ast.Node, always string) {
	ast.PreorderStack(n, nil, func(n ast.Node, stack []ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		outer.inner++
		c := &code{
			file: outer.file, name: outer.name + ".func" + strconv.Itoa(outer.inner), typ: lit.Type, body: lit.Body, exempt: always,
			outer: outer, lit: lit, use: useOf(lit, stack),
		}
		switch {
		case always != "":
		case c.use == deferred:
			c.exempt = "it is deferred, and may run while a throw unwinds"
		case c.use == called:
			c.exempt = outer.exempt
		}
		r.add(c)
		r.literals[lit] = c
		r.collectLiterals(c, lit.Body, always)
		return false
	})
}

// The ways to use a literal.
type use int

const (
	kept     use = iota // as a value
	called              // func() { … }()
	deferred            // defer func() { … }()
	started             // go func() { … }()
)

func useOf(lit *ast.FuncLit, stack []ast.Node) use {
	i := len(stack) - 1
	for i >= 0 {
		if _, ok := stack[i].(*ast.ParenExpr); !ok {
			break
		}
		i--
	}
	if i < 0 {
		return kept
	}
	call, ok := stack[i].(*ast.CallExpr)
	if !ok || ast.Unparen(call.Fun) != lit {
		return kept
	}
	if i > 0 {
		switch stack[i-1].(type) {
		case *ast.DeferStmt:
			return deferred
		case *ast.GoStmt:
			return started
		}
	}
	return called
}

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

// nameOf returns the name as in a stack trace, without package and type parameters.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t, pointer := ast.Unparen(fn.Recv.List[0].Type), false
	if star, ok := t.(*ast.StarExpr); ok {
		t, pointer = ast.Unparen(star.X), true
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	name := "_"
	if id, ok := t.(*ast.Ident); ok {
		name = id.Name
	}
	if pointer {
		name = "(*" + name + ")"
	}
	return name + "." + fn.Name.Name
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
