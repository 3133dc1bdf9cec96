package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
)

// pullText is added to the package's file where iter.Pull and iter.Pull2 are replaced. The iterator
// runs on a coroutine. The runtime can handle the coroutine's polls only on the goroutine waiting
// for the next element: see safepoint.Pulled. To switch to this goroutine, an iterator that polls
// yields a placeholder, and the goroutine handles the request and resumes the iterator.
const pullText = `
//go:linkname PREFIX_pulled SAFEPOINT.pulledLink
var PREFIX_pulled func(ask func() bool) (drive func(bool), begin func() (end func()))

type PREFIX_pulling struct {
	asks, stopped bool
	yield         func() bool
	drive         func(bool)
}

func (p *PREFIX_pulling) ask() bool {
	if p.stopped {
		return true
	}
	p.asks = true
	return p.yield()
}

func (p *PREFIX_pulling) answered() bool {
	asks := p.asks
	if p.asks = false; asks {
		PREFIX_answer()
	}
	return asks
}

func (p *PREFIX_pulling) stop(stop func()) {
	p.stopped = true
	p.drive(true)
	defer p.drive(false)
	stop()
}

func PREFIX_pull[V any](seq PREFIX_iter.Seq[V]) (func() (V, bool), func()) {
	if PREFIX_pulled == nil {
		return PREFIX_iter.Pull(seq)
	}
	p := new(PREFIX_pulling)
	drive, begin := PREFIX_pulled(p.ask)
	p.drive = drive
	next, stop := PREFIX_iter.Pull(func(yield func(V) bool) {
		p.yield = func() bool { return yield(*new(V)) }
		defer begin()()
		seq(yield)
	})
	return func() (v V, ok bool) {
		for again := true; again; again = p.answered() {
			drive(true)
			v, ok = next()
			drive(false)
		}
		return v, ok
	}, func() { p.stop(stop) }
}

func PREFIX_pull2[K, V any](seq PREFIX_iter.Seq2[K, V]) (func() (K, V, bool), func()) {
	if PREFIX_pulled == nil {
		return PREFIX_iter.Pull2(seq)
	}
	p := new(PREFIX_pulling)
	drive, begin := PREFIX_pulled(p.ask)
	p.drive = drive
	next, stop := PREFIX_iter.Pull2(func(yield func(K, V) bool) {
		p.yield = func() bool { return yield(*new(K), *new(V)) }
		defer begin()()
		seq(yield)
	})
	return func() (k K, v V, ok bool) {
		for again := true; again; again = p.answered() {
			drive(true)
			k, v, ok = next()
			drive(false)
		}
		return k, v, ok
	}, func() { p.stop(stop) }
}
`

// pullsOf replaces the function's uses of iter.Pull and iter.Pull2. The replacement text has the
// same requirements as the text for copies.
func (r *rewriter) pullsOf(c *code) {
	if c.careful >= plainly || !r.takesBulk() {
		return
	}
	c.walk(func(n ast.Node, _ []ast.Node) {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return
		}
		f, ok := r.info.Uses[sel.Sel].(*types.Func)
		if !ok || f.Pkg() == nil || f.Pkg().Path() != "iter" || r.pkg.Path == "iter" {
			return
		}
		name := map[string]string{"Pull": "pull", "Pull2": "pull2"}[f.Name()]
		if name == "" {
			return
		}
		r.replace(c.file, sel.Pos(), sel.End(), r.name(name))
		if from, ok := sel.X.(*ast.Ident); ok {
			r.keepImport(c.file, from.Name)
		}
	})
}

// keepImport uses a package of the file that may have no other use any more.
func (r *rewriter) keepImport(f *file, name string) {
	if f.pulls {
		return
	}
	f.pulls, r.pulls = true, true
	for i := len(f.tree.Decls) - 1; i >= 0; i-- {
		if d, ok := f.tree.Decls[i].(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			r.insert(f, d.End(), "; var _ "+name+".Seq[int]")
			return
		}
	}
}
