package instrument

import (
	"cmp"
	"go/ast"
	"strconv"
)

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
		r.nameClosures(n)
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		outer.inner++
		c := &code{
			file: outer.file, name: outer.name + ".func" + strconv.Itoa(outer.inner), typ: lit.Type, body: lit.Body, exempt: always,
			outer: outer, lit: lit,
		}
		c.use = useOf(lit, stack)
		if c.use == called || c.use == started {
			c.args = callAround(stack).Args
			outer.runs = append(outer.runs, c)
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
