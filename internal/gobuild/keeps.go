package gobuild

import (
	"context"

	"github.com/cocoon-go/cocoon/instrument"
	"github.com/cocoon-go/cocoon/internal/keep"
)

// Kept is code that a program does not unwind: the matches of a rule, or a stretch of a function.
type Kept struct {
	// packages that a rule matches, or in which it names a function; for a stretch, its own package
	Packages  []string
	Named     bool            // for a stretch: the package is named on the command line
	Pattern   string          // for a rule; "" for a stretch of a function
	NoSuspend bool            // the task is not suspended there either
	At        instrument.Kept // for a stretch; a rule sets only Why
	By        string          // "-cocoon.keep", the file of a document, "library" or "text"
}

// Keeps returns the code that the program of the command line keeps from being unwound: code
// matched by rules of the command line, of documents and of the list of libraries, and stretches
// found in the text of rewritten packages.
func (c *Command) Keeps(ctx context.Context) (all []Kept, err error) {
	s, err := c.survey(ctx)
	if err != nil {
		return nil, err
	}
	rules, err := c.allKeeps()
	if err != nil {
		return nil, err
	}
	for _, k := range append(rules, c.embeddedKeeps(s.packages)...) {
		all = s.matched(all, k, "")
	}
	for _, l := range keep.Libraries {
		all = s.matched(all, Keep{l.Rule, "library"}, l.Why)
	}
	for _, p := range s.packages {
		if !s.taken[p.ImportPath] {
			continue
		}
		found, err := instrument.Keeps(s.sources.of(p), s.options)
		if err != nil {
			return nil, err
		}
		for _, k := range found {
			all = append(all, Kept{Packages: []string{p.ImportPath}, Named: !p.DepOnly, At: k, By: "text"})
		}
	}
	return all, nil
}

// matched adds a rule if it may keep any code.
func (s survey) matched(all []Kept, k Keep, why string) []Kept {
	var paths []string
	for _, p := range s.packages {
		if _, ok := k.in(p); ok {
			paths = append(paths, p.ImportPath)
		}
	}
	if paths == nil {
		return all
	}
	return append(all, Kept{Packages: paths, Pattern: k.Pattern, NoSuspend: k.NoSuspend, At: instrument.Kept{Why: why}, By: k.By})
}
