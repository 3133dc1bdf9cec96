package policy

import (
	"fmt"
	"maps"
)

// Loaded holds the declarations on a server that loads documents one after the other.
type Loaded struct {
	States  map[string]State // registered, by code or documents
	Tenants bool             // tenants are registered
	label   string           // the label of the tenants in a document
	where   map[Part]string  // the document, or the code, that declares a part
}

// NewLoaded returns the declarations of a server with states registered by code, and possibly
// tenants; by is the name of the code in errors.
func NewLoaded(states map[string]State, tenants bool, by string) *Loaded {
	l := &Loaded{States: maps.Clone(states), Tenants: tenants, where: map[Part]string{}}
	if l.States == nil {
		l.States = map[string]State{}
	}
	for name := range states {
		l.where[Part{"state", name}] = by
	}
	return l
}

// Add adds a document. It returns an error for each part that another document declares too.
func (l *Loaded) Add(file string, d *Document) (refused []error) {
	refuse := func(part Part, format string, args ...any) {
		refused = append(refused, InFile(d.Refused(part, fmt.Errorf(format, args...)), file))
	}
	for _, part := range d.Parts() {
		switch before := l.where[part]; {
		case part.Kind == "tenants":
			if before != "" && l.label != d.Tenants.Label {
				refuse(part, "%s names the tenants by another label, %q", before, l.label)
			}
			l.Tenants, l.label = true, d.Tenants.Label
		case before != "":
			refuse(part, "it is declared already, by %s", before)
			continue
		case part.Kind == "state":
			l.States[part.Name], _ = StateOf(d.States[part.Name])
		}
		line, col := d.Place(part)
		l.where[part] = fmt.Sprintf("%s:%d:%d", file, line, col)
	}
	return refused
}
