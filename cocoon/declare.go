package cocoon

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// declared is what a document says of the tasks of a name, beside their kind. It does not change.
type declared struct {
	attrs []attrs // its priority and labels, linked
	cost  int64   // ns; 0: it does not say
	fixed bool    // it says that they are atomic
}

// adorn gives tasks of the origin what a document says of their class, behind what their context gives.
func (o *origin) adorn(d *declared) {
	switch {
	case o.attrs == nil:
		o.attrs = &d.attrs[0]
	case o.attrs.declared && o.up != nil && o.up.class == o.class && o.up.attrs == o.attrs:
		// Inherited from one of the same class: a recursion does not make the list longer.
	default:
		o.attrs = chain(slices.Clone(d.attrs), o.attrs)
	}
}

// chain links attributes, the last of them to next, and returns the first; next if there are none.
func chain(list []attrs, next *attrs) *attrs {
	for i := range slices.Backward(list) {
		list[i].next = next
		next = &list[i]
	}
	return next
}

// declaration is what a document says of a class, before it is in force.
type declaration struct {
	class    *class
	kind     Kind
	declared *declared
}

// declare checks what a document says of tasks. Called with regMu held.
func (rt *Runtime) declare(tasks map[string]policy.Class) (all []declaration, err error) {
	for _, name := range slices.Sorted(maps.Keys(tasks)) {
		said := tasks[name]
		d := declaration{declared: &declared{cost: int64(said.Cost), fixed: said.Kind == "atomic"}}
		if said.Kind != "" {
			d.kind = Kind(slices.Index(stubs.Kinds[:], stubs.Intern(said.Kind)))
		}
		if d.class, err = rt.classFor(name, d.kind); err != nil {
			return nil, err
		}
		switch {
		case d.class.declared.Load() != nil:
			return nil, fmt.Errorf("cocoon: task %q: it is %w by another document; say all of it in one", name, ErrDuplicate)
		case d.declared.fixed && d.class.kind.Load() != 0:
			return nil, fmt.Errorf("cocoon: task %q: the document says atomic, and the kind %v is %w", name, stubs.Kinds[d.class.kind.Load()], ErrDuplicate)
		}
		if d.declared.attrs, err = attrsOf(said); err != nil {
			return nil, fmt.Errorf("cocoon: task %q: %w", name, err)
		}
		all = append(all, d)
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
