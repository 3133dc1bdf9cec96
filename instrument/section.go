package instrument

import (
	"fmt"
	"go/ast"
)

// section makes a section of a function named by the options. The section opens at the function's
// entry and closes when the function returns. If the last result is an error, a throw for the
// section ends there and becomes this error. Otherwise it continues to the enclosing boundary.
func (r *rewriter) section(c *code) {
	if c.decl == nil {
		return
	}
	name := r.pkg.Path + "." + c.name
	if !r.opt.Sections[name] {
		return
	}
	if c.exempt != "" {
		r.leave(c, c.body.Pos(), "section", c.exempt)
		return
	}
	r.insert(c.file, c.body.Lbrace+1, fmt.Sprintf("defer %s(%q)(%s);", r.name("section"), name, r.errorOf(c)))
	r.stats.Sections = append(r.stats.Sections, name)
}

// errorOf returns the address of the function's last result if it is an error, and names the result
// if it has no name.
func (r *rewriter) errorOf(c *code) string {
	results := c.typ.Results
	if results == nil || len(results.List) == 0 {
		return "nil"
	}
	last := results.List[len(results.List)-1]
	if id, ok := ast.Unparen(last.Type).(*ast.Ident); !ok || id.Name != "error" {
		return "nil"
	}
	name := r.name("error")
	if n := len(last.Names); n > 0 {
		if id := last.Names[n-1]; id.Name != "_" {
			return "&" + id.Name
		} else {
			at := r.offset(id.Pos())
			c.file.edits.replace(at, at+len("_"), name)
			return "&" + name
		}
	}
	if !results.Opening.IsValid() {
		r.insert(c.file, last.Pos(), "("+name+" ")
		r.insert(c.file, last.End(), ")")
		return "&" + name
	}
	for _, f := range results.List[:len(results.List)-1] {
		r.insert(c.file, f.Pos(), "_ ")
	}
	r.insert(c.file, last.Pos(), name+" ")
	return "&" + name
}
