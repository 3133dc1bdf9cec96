package instrument

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// Links say how a function leads to others, so that a report can find what tasks reach. Functions
// are named as "PATH.Func", "PATH.T.M" and "PATH.(*T).M", literals as Func of FunctionGaps has them.
type Links struct {
	To      []string // functions that it names, and literals in it
	Methods []string // names of methods that it calls through interfaces
	Types   []string // packages of which it names types
	Tasks   []string // functions that it passes to Cocoon's packages
	Passes  []string // functions that it passes to packages that are not rewritten
	Hosts   bool     // it passes Cocoon's packages other values that carry code, such as a handler
}

// linksOf finds the links of a function.
func (s *survey) linksOf(c *code) (l Links) {
	path := s.pkg.Path + "."
	ast.Inspect(c.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if lit := s.literals[n]; lit != nil && lit.body != c.body {
				l.To = append(l.To, path+lit.name)
				return false
			}
		case *ast.Ident:
			switch o := s.info.Uses[n].(type) {
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

// linkName returns the name of a function as Links has it.
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

// startsTasks are this module's packages that run what they are passed in tasks.
var startsTasks = []refusal{{"cocoon/...", "tasks"}, {"cocoonhttp/...", "requests"}, {"cocoongrpc", "calls"}, {"isolate/...", "guests"}}

// linkPassed notes what a call passes to Cocoon, or to code that is not rewritten.
func (s *survey) linkPassed(l *Links, call *ast.CallExpr) {
	f, ok := s.object(ast.Unparen(call.Fun)).(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg() == s.types {
		return
	}
	within, _ := strings.CutPrefix(f.Pkg().Path(), module+"/")
	toCocoon := reason(startsTasks, within) != ""
	if !toCocoon && s.opt.Instrumented != nil && s.opt.Instrumented(f.Pkg().Path()) {
		return
	}
	for _, arg := range call.Args {
		arg = ast.Unparen(arg)
		name := ""
		if lit, ok := arg.(*ast.FuncLit); ok && s.literals[lit] != nil {
			name = s.pkg.Path + "." + s.literals[lit].name
		} else if f, ok := s.object(arg).(*types.Func); ok && f.Pkg() != nil {
			name = linkName(f.Origin())
		}
		switch {
		case name != "" && toCocoon:
			l.Tasks = append(l.Tasks, name)
		case name != "":
			l.Passes = append(l.Passes, name)
		case toCocoon:
			l.Hosts = l.Hosts || !isContext(s.info.TypeOf(arg)) && s.carries(s.info.TypeOf(arg))
		}
	}
}

func isContext(t types.Type) bool {
	return t != nil && types.TypeString(t, nil) == "context.Context"
}
