package document

import (
	"fmt"
	"maps"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Loaded holds the declarations on a server that loads documents one after the other.
type Loaded struct {
	States  map[string]policy.State // registered, by code or documents
	Safe    map[string]bool         // functions that code registers as safe
	Tasks   map[string]Class        // by name or pattern, as in a Document
	Tenants bool                    // tenants are registered
	Label   string                  // of the tenants, if a document declares it
	where   map[Part]string         // the document, or the code, that declares a part
}

// NewLoaded returns the declarations of a server with states and safe functions registered by code,
// and possibly tenants; by is the name of the code in errors.
func NewLoaded(states map[string]policy.State, safe map[string]bool, tenants bool, by string) *Loaded {
	l := &Loaded{States: maps.Clone(states), Safe: safe, Tasks: map[string]Class{}, Tenants: tenants, where: map[Part]string{}}
	if l.States == nil {
		l.States = map[string]policy.State{}
	}
	for name := range states {
		l.where[Part{"state", name}] = by
	}
	return l
}

// Add adds a document. It returns an error for each part that contradicts the code, or that another
// document declares too.
func (l *Loaded) Add(file string, d *Document) (refused []error) {
	refuse := func(part Part, format string, args ...any) {
		refused = append(refused, InFile(d.Refused(part, fmt.Errorf(format, args...)), file))
	}
	for _, part := range d.Parts() {
		switch before := l.where[part]; {
		case part.Kind == "tenants":
			if before != "" && l.Label != d.Tenants.Label {
				refuse(part, "%s names the tenants by another label, %q", before, l.Label)
			}
			l.Tenants, l.Label = true, d.Tenants.Label
		case before != "":
			refuse(part, "it is declared already, by %s", before)
			continue
		case part.Kind == "state":
			l.States[part.Name], _ = policy.StateOf(d.States[part.Name])
		case part.Kind == "task":
			if l.Tasks[part.Name] = d.Tasks[part.Name]; l.contradicts(part.Name) {
				refuse(part, "the document says atomic, and the code registers the function as safe")
			}
		}
		line, col := d.Place(part)
		l.where[part] = fmt.Sprintf("%s:%d:%d", file, line, col)
	}
	return refused
}

// contradicts reports whether a document declares tasks atomic whose kind code has registered. The
// entry of a pattern yields to the code.
func (l *Loaded) contradicts(task string) bool {
	p, _ := lang.ParsePattern(task)
	name, one := p.Name()
	return one && l.Safe[name] && l.Tasks[task].Kind == stubs.KindNames[0]
}
