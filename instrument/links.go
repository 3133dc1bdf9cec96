package instrument

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// Links describes how a function leads to other functions, so that a report can find what tasks
// reach. Names of functions have the forms "PATH.Func", "PATH.T.M" and "PATH.(*T).M"; names of
// literals are as in FunctionGaps.Func.
type Links struct {
	To      []string // functions named in it, and its literals
	Methods []string // names of methods called through interfaces
	Types   []string // packages of the types that it names
	Tasks   []string // functions passed to Cocoon's packages
	Passes  []string // functions passed to uninstrumented packages
	Hosts   bool     // it passes other values with code, such as a handler, to Cocoon's packages
}

// linksOf finds the links of a function.
func (s *survey) linksOf(c *code) (l Links) {
	path := s.r.pkg.Path + "."
	ast.Inspect(c.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if lit := s.r.literals[n]; lit != nil && lit.body != c.body {
				l.To = append(l.To, path+lit.name)
				return false
			}
		case *ast.Ident:
			switch o := s.r.info.Uses[n].(type) {
			case *types.Func:
				s.link(&l, o.Origin())
			case *types.TypeName:
				if o.Pkg() != nil && !slices.Contains(l.Types, o.Pkg().Path()) {
					l.Types = append(l.Types, o.Pkg().Path())
				}
			}
		case *ast.CallExpr:
			s.linkPassed(&l, n)
		}
		return true
	})
	return l
}

func (s *survey) link(l *Links, f *types.Func) {
	recv := f.Signature().Recv()
	switch {
	case recv != nil && types.IsInterface(recv.Type()):
		l.Methods = append(l.Methods, f.Name())
	case f.Pkg() != nil:
		l.To = append(l.To, linkName(f))
	}
}

// linkName returns the name of a function in the form of Links.
func linkName(f *types.Func) string {
	recv := f.Signature().Recv()
	if recv == nil {
		return f.Pkg().Path() + "." + f.Name()
	}
	t, pointer := recv.Type(), false
	if p, ok := t.(*types.Pointer); ok {
		t, pointer = p.Elem(), true
	}
	name := "_"
	if named, ok := types.Unalias(t).(*types.Named); ok {
		name = named.Obj().Name()
	}
	if pointer {
		name = "(*" + name + ")"
	}
	return f.Pkg().Path() + "." + name + "." + f.Name()
}

// startsTasks lists this module's packages that run their arguments in tasks.
var startsTasks = []refusal{{"cocoon/...", "tasks"}, {"cocoonhttp/...", "requests"}, {"cocoongrpc", "calls"}, {"isolate/...", "guests"}}

// linkPassed records the functions that a call passes to Cocoon, or to uninstrumented code.
func (s *survey) linkPassed(l *Links, call *ast.CallExpr) {
	f, ok := s.r.object(ast.Unparen(call.Fun)).(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg() == s.r.types {
		return
	}
	within, _ := strings.CutPrefix(f.Pkg().Path(), module+"/")
	toCocoon := reason(startsTasks, within) != ""
	if !toCocoon && s.r.opt.Instrumented != nil && s.r.opt.Instrumented(f.Pkg().Path()) {
		return
	}
	for _, arg := range call.Args {
		arg = ast.Unparen(arg)
		name := ""
		if lit, ok := arg.(*ast.FuncLit); ok && s.r.literals[lit] != nil {
			name = s.r.pkg.Path + "." + s.r.literals[lit].name
		} else if f, ok := s.r.object(arg).(*types.Func); ok && f.Pkg() != nil {
			name = linkName(f.Origin())
		}
		switch {
		case name != "" && toCocoon:
			l.Tasks = append(l.Tasks, name)
		case name != "":
			l.Passes = append(l.Passes, name)
		case toCocoon:
			l.Hosts = l.Hosts || !isContext(s.r.info.TypeOf(arg)) && s.r.carries(s.r.info.TypeOf(arg))
		}
	}
}

func isContext(t types.Type) bool {
	return t != nil && types.TypeString(t, nil) == "context.Context"
}
