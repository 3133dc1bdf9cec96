package vet

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
)

// loaded is a document loaded by the package.
type loaded struct {
	*source
	doc *document.Document // nil: the document is refused
	err error
}

// findDocuments reads the documents loaded by the package. It reports whether it has found all.
func (c *specCheck) findDocuments(calls []*ast.CallExpr) (documents []loaded, all bool) {
	seen := map[string]bool{}
	all = c.calledOnly(calls)
	for _, call := range calls {
		for _, f := range c.flowsOf(call) {
			if f.What == "expr" || f.Param >= len(call.Args) {
				continue
			}
			arg := call.Args[f.Param]
			if p, ok := c.paramOf(arg); ok {
				all = all && (c.pass.Pkg.Name() == "main" || !p.of.Exported())
				continue // found where that function is called
			}
			s := c.document(arg)
			if f.What == "file" {
				s = c.documentFile(arg)
			}
			if s == nil {
				all = false
				continue
			}
			if !seen[s.id] {
				seen[s.id] = true
				doc, err := document.Read(strings.NewReader(s.text))
				documents = append(documents, loaded{s, doc, err})
			}
			all = all && documents[len(documents)-1].err == nil
		}
	}
	return documents, all
}

// calledOnly reports whether the functions that take documents are only called, and never passed
// on.
func (c *specCheck) calledOnly(calls []*ast.CallExpr) bool {
	takes := func(o types.Object) bool {
		f, ok := o.(*types.Func)
		if ok {
			f = f.Origin()
			o = f
		}
		if ok && f.Pkg() != nil {
			if _, sink := sinks[pathOf(f.Pkg())+"."+nameIn(f, pathOf(f.Pkg()))]; sink {
				return true
			}
		}
		for _, g := range c.flows[o] {
			if g.What != "expr" {
				return true
			}
		}
		return false
	}
	named, called := 0, 0
	for id, o := range c.pass.TypesInfo.Uses {
		if takes(o) && !inTest(c.pass, id.Pos()) {
			named++
		}
	}
	for _, call := range calls {
		if o := typeutil.Callee(c.pass.TypesInfo, call); o != nil && takes(o) {
			called++
		}
	}
	return named == called
}

// addStates adds the states of documents.
func (c *specCheck) addStates(documents []loaded) {
	for _, l := range documents {
		if l.doc == nil {
			continue
		}
		for name, v := range l.doc.States {
			c.registered.add(name, []shape{shapeOf(v)})
		}
	}
}

// checkDocument checks a document as loading it will.
func (c *specCheck) checkDocument(l loaded) {
	if l.err != nil {
		c.reportDocument(l.source, "", l.err)
		return
	}
	var members []analyzer.Member
	for _, spec := range l.doc.Policies {
		found, verified := c.readerOf(l, spec).read(exactly(spec.On))
		if verified.Program() != nil {
			members = append(members, analyzer.Member{Spec: spec, Verified: verified})
		}
		if _, _, written := l.doc.PlaceIn(spec.Name, 0); !written {
			continue
		}
		part := document.Part{Kind: "policy", Name: spec.Name}
		if found != nil {
			c.reportDocument(l.source, "", l.doc.Refused(part, found.Error))
		}
		for _, w := range verified.Warnings() {
			c.reportDocument(l.source, "questionable: ", l.doc.Refused(part, w.Error))
		}
	}
	for _, remark := range slices.Concat(analyzer.Together(members), analyzer.Mismatched(members, l.doc.Tasks), analyzer.Unending(members, l.doc.NeverUnwind), analyzer.InDocument(l.doc, members, l.doc.Tasks)) {
		c.reportDocument(l.source, "questionable: ", l.doc.Refused(remark.Part, remark.Err))
	}
}

// readerOf returns a reader of a policy of a document.
func (c *specCheck) readerOf(l loaded, spec policy.Spec) *reader {
	r := &reader{text: spec.Expr, limits: analyzer.LimitsOf(spec), registered: c.registered}
	r.states = maps.Clone(r.states)
	for name, v := range l.doc.States {
		r.states[name] = []shape{shapeOf(v)}
	}
	for name, v := range spec.State {
		r.states[name] = []shape{shapeOf(v)}
	}
	return r
}

// reportDocument reports an error in a document at its place.
func (c *specCheck) reportDocument(s *source, prefix string, err error) {
	var de *document.Error
	if !errors.As(err, &de) {
		return
	}
	_, message, _ := strings.Cut(strings.TrimPrefix(de.Error(), de.Where()), ": ")
	pos, end, exact := s.at(c, max(de.Line, 1), max(de.Col, 1), de.Width)
	if !exact {
		prefix += fmt.Sprintf("%d:%d of the document: ", de.Line, de.Col)
	}
	report(c.pass, analysis.Diagnostic{Pos: pos, End: end, Message: prefix + message})
}
