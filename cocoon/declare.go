package cocoon

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// declared is what a document says of the tasks of a name. It does not change.
type declared struct {
	kind  Kind
	attrs []attrs // its priority and labels, linked
	cost  int64   // ns; 0: it does not say
	fixed bool    // it says that they are atomic
	waits bool    // it says that they mostly wait
}

// adorn gives tasks of the origin what a document says of their class, behind what their context gives.
func (o *origin) adorn(d *declared) {
	switch {
	case o.attrs == nil:
		o.attrs = &d.attrs[0]
	case o.attrs.declared && o.inheritedFromItsLike():
		// Inherited from one of the same class: a recursion does not make the list longer.
	default:
		o.attrs = chain(slices.Clone(d.attrs), o.attrs)
	}
}

func (o *origin) inheritedFromItsLike() bool {
	up := o.up.Load()
	return up != nil && up.class == o.class && up.attrs == o.attrs
}

// chain links attributes, the last of them to next, and returns the first; next if there are none.
func chain(list []attrs, next *attrs) *attrs {
	for i := range slices.Backward(list) {
		list[i].next = next
		next = &list[i]
	}
	return next
}

// declaredOf checks what a document says of tasks. What another document, was, says of them does not count any more. Called
// with regMu held.
func (rt *Runtime) declaredOf(doc *policy.Document, was *document) (map[*class]*declared, error) {
	all := make(map[*class]*declared, len(doc.Tasks))
	for _, name := range slices.Sorted(maps.Keys(doc.Tasks)) {
		said, part := doc.Tasks[name], policy.Part{Kind: "task", Name: name}
		c, err := rt.classFor(name)
		if err != nil {
			return nil, err
		}
		d := &declared{cost: int64(said.Cost), fixed: said.Kind == "atomic", waits: said.Kind == policy.Waits}
		if said.Kind != "" && !d.waits {
			d.kind = Kind(slices.Index(stubs.Kinds[:], stubs.Intern(said.Kind)))
		}
		switch {
		case c.declared.Load() != nil && was.tasks[c] == nil:
			return nil, doc.Refused(part, fmt.Errorf("it is %w by another document; say all of it in one", ErrDuplicate))
		case d.fixed && c.registered != 0:
			return nil, doc.Refused(part, fmt.Errorf("the document says atomic, and the kind %v is %w", stubs.Kinds[c.registered], ErrDuplicate))
		}
		if d.attrs, err = attrsOf(said); err != nil {
			return nil, doc.Refused(part, err)
		}
		all[c] = d
	}
	return all, nil
}

// attrsOf returns the attributes of a class, linked.
func attrsOf(c policy.Class) (list []attrs, err error) {
	if c.Priority != nil {
		list = append(list, attrs{what: priorityAttr, declared: true, number: int64(*c.Priority)})
	}
	for _, label := range slices.Sorted(maps.Keys(c.Labels)) {
		name, err := internWhole(label)
		if err != nil {
			return nil, err
		}
		value, err := internWhole(c.Labels[label])
		if err != nil {
			return nil, err
		}
		list = append(list, attrs{what: labelAttr, declared: true, label: name, number: int64(value)})
	}
	chain(list, nil)
	return list, nil
}

// internWhole interns a name that must not become one of many.
func internWhole(name string) (stubs.NameID, error) {
	id := stubs.Intern(name)
	if id == stubs.Other && name != stubs.Other.String() {
		return id, fmt.Errorf("the table of names is full, so %q cannot be told from others", name)
	}
	return id, nil
}
