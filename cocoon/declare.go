package cocoon

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// fixed reports whether a document declares the class atomic.
func (c *class) fixed() bool {
	d := c.declared.Load()
	return d != nil && d.fixed
}

// adorn adds the attributes that a document declares for the tasks' class, behind the attributes of
// the context.
func (o *origin) adorn(d *declared) {
	switch {
	case o.attrs == nil:
		o.attrs = d.shared
	case o.attrs.declared && o.inheritedFromItsLike(d):
		// Inherited from a task of the same class or pattern: a recursion does not make the list
		// longer.
	default:
		o.attrs = chain(slices.Clone(d.attrs), o.attrs)
	}
}

func (o *origin) inheritedFromItsLike(d *declared) bool {
	up := o.up.Load()
	return up != nil && up.class.declared.Load() == d && up.attrs == o.attrs
}

// chain links the attributes, and the last one to next. It returns the first, or next if there are
// none.
func chain(list []attrs, next *attrs) *attrs {
	for i := range slices.Backward(list) {
		list[i].next = next
		next = &list[i]
	}
	return next
}

// declaredOf checks what a document says about tasks. It disregards what was, the replaced
// document, says about them. Called with regMu held.
func (rt *Runtime) declaredOf(doc *document.Document, was *loadedDocument) (map[string]*declared, error) {
	all, known := make(map[string]*declared, len(doc.Tasks)), rt.naming.declared
	for _, name := range slices.Sorted(maps.Keys(doc.Tasks)) {
		said, part := doc.Tasks[name], document.Part{Kind: "task", Name: name}
		pattern, err := lang.ParsePattern(name)
		if err != nil {
			return nil, doc.Refused(part, err)
		}
		whole, one := pattern.Name()
		d := &declared{pattern: pattern, cost: int64(said.Cost), fixed: said.Kind == "atomic", waits: said.Kind == document.Waits, said: said}
		if said.Kind != "" && !d.waits {
			d.kind = Kind(slices.Index(stubs.KindNames[:], said.Kind))
		}
		switch {
		case known[name] != nil && was.tasks[name] == nil:
			return nil, doc.Refused(part, fmt.Errorf("it is %w by another document; declare it in one document", ErrDuplicate))
		case one && d.fixed && rt.naming.registered[whole] != 0:
			return nil, doc.Refused(part, fmt.Errorf("the document declares atomic, and the kind %v is %w", stubs.KindNames[rt.naming.registered[whole]], ErrDuplicate))
		}
		d.attrs = attrsOf(said)
		d.shared = chain(slices.Clone(d.attrs), nil)
		all[name] = d
	}
	return all, nil
}

// declarations returns what documents declare of tasks, as document.Document.Tasks. Called with
// regMu held.
func (rt *Runtime) declarations() map[string]document.Class {
	all := make(map[string]document.Class, len(rt.naming.declared))
	for name, d := range rt.naming.declared {
		said := d.said
		if whole, one := d.pattern.Name(); one && d.waits && rt.naming.registered[whole] != 0 {
			said.Kind = "" // code has given it another one
		}
		all[name] = said
	}
	return all
}

// attrsOf returns the attributes of a class.
func attrsOf(c document.Class) (list []attrs) {
	if c.Priority != nil {
		list = append(list, attrs{what: priorityAttr, declared: true, number: int64(*c.Priority)})
	}
	for _, label := range slices.Sorted(maps.Keys(c.Labels)) {
		a := labelled(label, c.Labels[label])
		a.declared = true
		list = append(list, a)
	}
	return list
}
