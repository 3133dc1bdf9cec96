package vet

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// source is the text of a document, in a file of its own or in Go.
type source struct {
	id   string // the same for the same text
	text string
	file string   // for a document in a file of its own
	expr ast.Expr // for a document in Go: the constant
}

// document returns the document from an expression with its text or a reader of it. It returns nil
// if the text is unknown.
func (c *specCheck) document(e ast.Expr) *source {
	if e = c.follow(e); e == nil {
		return nil
	}
	if text, ok := c.text(e); ok {
		return c.constantSource(e, text)
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		return c.madeSource(e)
	case *ast.Ident:
		return c.embedded(c.pass.TypesInfo.ObjectOf(e))
	case *ast.SelectorExpr:
		return c.embedded(c.pass.TypesInfo.ObjectOf(e.Sel))
	}
	return nil
}

// constantSource returns a document in a constant. For a constant of this package it refers to the
// declaration.
func (c *specCheck) constantSource(e ast.Expr, text string) *source {
	for range 8 {
		name, ok := ast.Unparen(e).(*ast.Ident)
		if !ok || c.vars.consts[c.pass.TypesInfo.ObjectOf(name)] == nil {
			break
		}
		e = c.vars.consts[c.pass.TypesInfo.ObjectOf(name)]
	}
	return &source{id: c.pass.Fset.Position(e.Pos()).String(), text: text, expr: e}
}

// madeSource returns a document from a call: a conversion, a reader, or the opening or reading of a
// file.
func (c *specCheck) madeSource(call *ast.CallExpr) *source {
	if len(call.Args) != 1 {
		return nil
	}
	switch name := c.calleeName(call); {
	case c.isConversion(call), readers[name]:
		return c.document(call.Args[0])
	case name == "embed.FS.Open", name == "embed.FS.ReadFile":
		if path, ok := c.path(call.Args[0]); ok {
			return c.fileSource(filepath.Join(c.dir(), path))
		}
	case name == "os.Open", name == "os.ReadFile":
		return c.documentFile(call.Args[0])
	}
	return nil
}

// path returns a constant path, or the result of filepath.Join with constants.
func (c *specCheck) path(e ast.Expr) (string, bool) {
	e = c.follow(e)
	if text, ok := c.text(e); ok {
		return text, true
	}
	call, ok := e.(*ast.CallExpr)
	if !ok || c.calleeName(call) != "path/filepath.Join" && c.calleeName(call) != "path.Join" {
		return "", false
	}
	var parts []string
	for _, arg := range call.Args {
		part, ok := c.path(arg)
		if !ok {
			return "", false
		}
		parts = append(parts, part)
	}
	return filepath.Join(parts...), true
}

// documentFile returns the document in the file with the path in an expression. A program resolves
// a relative path from the folder in which it is started: most often its own folder, or the
// module's.
func (c *specCheck) documentFile(e ast.Expr) *source {
	path, ok := c.path(e)
	if !ok || !isLocalPath(path) {
		return nil
	}
	for dir := c.dir(); ; dir = filepath.Dir(dir) {
		if s := c.fileSource(filepath.Join(dir, path)); s != nil {
			return s
		}
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// dir returns the folder of the package.
func (c *specCheck) dir() string {
	return filepath.Dir(c.pass.Fset.File(c.pass.Files[0].FileStart).Name())
}

func (c *specCheck) fileSource(path string) *source {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return &source{id: path, text: string(text), file: path}
}

// embedded returns the document that go:embed puts into a variable, of this or another package.
func (c *specCheck) embedded(o types.Object) *source {
	v, ok := o.(*types.Var)
	if !ok || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() || c.vars.changed[o] {
		return nil
	}
	at := c.pass.Fset.Position(v.Pos())
	f, err := parser.ParseFile(token.NewFileSet(), at.Filename, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	for _, d := range f.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR {
			continue
		}
		for _, s := range decl.Specs {
			spec := s.(*ast.ValueSpec)
			doc := spec.Doc
			if doc == nil && !decl.Lparen.IsValid() {
				doc = decl.Doc
			}
			if len(spec.Names) == 1 && spec.Names[0].Name == v.Name() && doc != nil {
				return c.fileSource(embeddedFile(doc, filepath.Dir(at.Filename)))
			}
		}
	}
	return nil
}

// embeddedFile returns the file that a comment embeds, or "".
func embeddedFile(doc *ast.CommentGroup, dir string) string {
	for _, line := range doc.List {
		if pattern, ok := strings.CutPrefix(line.Text, "//go:embed "); ok {
			pattern = strings.Trim(strings.TrimSpace(pattern), "\"`")
			if matches, err := filepath.Glob(filepath.Join(dir, strings.TrimPrefix(pattern, "all:"))); err == nil && len(matches) == 1 {
				return matches[0]
			}
		}
	}
	return ""
}

// at returns the source position of a place in the document. exact is false if the position is only
// near it.
func (s *source) at(c *specCheck, line, col, width int) (pos, end token.Pos, exact bool) {
	offset := offsetOf(s.text, line, col)
	last := offset
	for range max(1, width) - 1 {
		_, n := utf8.DecodeRuneInString(s.text[min(last, len(s.text)):])
		last += n
	}
	if s.file != "" {
		f := c.tokenFile(s)
		return f.Pos(min(offset, f.Size())), f.Pos(min(last+1, f.Size())), true
	}
	pos, _ = c.place(s.expr, offset)
	_, end = c.place(s.expr, last)
	return pos, end, c.placed(s.expr, offset)
}

// tokenFile makes the file known to the positions of the pass.
func (c *specCheck) tokenFile(s *source) *token.File {
	if c.files[s.id] == nil {
		f := c.pass.Fset.AddFile(s.file, -1, len(s.text))
		f.SetLinesForContent([]byte(s.text))
		c.files[s.id] = f
	}
	return c.files[s.id]
}

// offsetOf returns the offset of a line and a column, which counts characters.
func offsetOf(text string, line, col int) int {
	offset := 0
	for range line - 1 {
		n := strings.IndexByte(text[offset:], '\n')
		if n < 0 {
			return len(text)
		}
		offset += n + 1
	}
	if line == 1 && strings.HasPrefix(text, "\ufeff") {
		offset += len("\ufeff")
	}
	for range col - 1 {
		_, n := utf8.DecodeRuneInString(text[offset:])
		offset += n
	}
	return min(offset, len(text))
}
