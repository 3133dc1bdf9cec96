package document

import (
	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/keep"
)

// Kept are functions that a throw does not unwind: it waits until they return.
type Kept struct {
	// Name is a package, as in gorm.io/gorm/schema or gorm.io/gorm/..., or a function, as in
	// PATH.Func, PATH.Type.Method, PATH.(*Type).Method or, for all methods, PATH.(*Type).*.
	Name string

	// NoSuspend says that tasks are not suspended in there, either.
	NoSuspend bool
}

// Keeper returns a function that finds the first entry that keeps a function of the program, given
// its name as in stack traces; "" is none.
func Keeper(kept []Kept) func(function string) string {
	var rules []keep.Rule
	for _, k := range kept {
		rules = append(rules, keep.Rule{Pattern: k.Name})
	}
	all := keep.NewSet(rules, "")
	return func(function string) string {
		if is, _ := all.Match(function); !is {
			return ""
		}
		for _, r := range rules {
			if is, _ := keep.NewSet([]keep.Rule{r}, "").Match(function); is {
				return r.Pattern
			}
		}
		return ""
	}
}

// maxKept is the greatest number of entries of never-unwind in a document: each costs time at a
// throw, for each function on the stack.
const maxKept = 256

// readNeverUnwind reads
//
//	never-unwind: [gorm.io/gorm/schema, {name: example.com/cache.Fill, suspend: false}]
func (d *documentReader) readNeverUnwind(n *yaml.Node) error {
	items, err := sequence(n, "never-unwind")
	if err != nil {
		return err
	}
	if len(items) > maxKept {
		return lineError(n, "never-unwind has %d entries, and %d are allowed", len(items), maxKept)
	}
	for _, item := range items {
		var k Kept
		name, suspend := item, true
		if item.Kind == yaml.MappingNode {
			err = decodeMap(item, "an entry of never-unwind", []key{
				{name: "name", required: true, read: func(n *yaml.Node) error { name = n; return nil }},
				{name: "suspend", read: func(n *yaml.Node) error { return readBool(n, &suspend) }},
			})
		}
		if err == nil {
			err = readString(name, &k.Name)
		}
		if err != nil {
			return err
		}
		if err := keep.Check(k.Name); err != nil {
			return lineError(name, "never-unwind: %v", err)
		}
		part := Part{"never-unwind", k.Name}
		if first, twice := d.doc.parts[part]; twice {
			return lineError(name, "never-unwind has %q twice, first in line %d", k.Name, first.node.Line)
		}
		k.NoSuspend = !suspend
		d.doc.parts[part] = declaration{node: name}
		d.doc.NeverUnwind = append(d.doc.NeverUnwind, k)
	}
	return nil
}

func keptOf(d *Document) map[string]Kept {
	kept := make(map[string]Kept, len(d.NeverUnwind))
	for _, k := range d.NeverUnwind {
		kept[k.Name] = k
	}
	return kept
}

func keptDetails(_ string, a, b Kept) []string {
	var d differences
	d.add("suspend", !a.NoSuspend, !b.NoSuspend)
	return d
}
