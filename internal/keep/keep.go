// Package keep finds the functions that a throw must not unwind: a throw waits until they return.
// Rules on the command line of cocoon build and in policy documents name them, and a list of rules
// is built in.
package keep

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Rule keeps the functions that its pattern matches:
//
//	gorm.io/gorm/schema             all functions of the package
//	gorm.io/gorm/...                the same for a pattern of packages
//	gorm.io/gorm/schema.Parse       one function, with all that it calls
//	gorm.io/gorm.(*Statement).Parse one method; with a value receiver, gorm.io/gorm.Statement.Parse
//	gorm.io/gorm.(*Statement).*     all methods of the type
type Rule struct {
	Pattern   string
	NoSuspend bool // the task is not suspended there either
}

// noSuspend is the suffix of a rule with NoSuspend.
const noSuspend = "=no-suspend"

// Parse parses a rule of the command line: PATTERN, or PATTERN=no-suspend.
func Parse(text string) (Rule, error) {
	pattern, what, has := strings.Cut(text, "=")
	if has && "="+what != noSuspend {
		return Rule{}, fmt.Errorf("%q: want PATTERN or PATTERN%s", text, noSuspend)
	}
	if err := Check(pattern); err != nil {
		return Rule{}, err
	}
	return Rule{pattern, has}, nil
}

// String returns the rule in the form that Parse accepts.
func (r Rule) String() string {
	if r.NoSuspend {
		return r.Pattern + noSuspend
	}
	return r.Pattern
}

// methods matches the type and the methods of a pattern. It is compiled at its first use, because
// the go command starts this program once for each package.
var methods = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\.(\(\*[\pL_][\pL\p{Nd}_]*\)\.([\pL_][\pL\p{Nd}_]*|\*)|[\pL_][\pL\p{Nd}_]*\.\*)$`)
})

const odd = " \t\n\r\f\v,'\"`=\\()*"

// Check returns an error for a pattern that can match nothing, or that would match all code.
func Check(pattern string) error {
	refused := func(why string) error { return fmt.Errorf("%q: %s", pattern, why) }
	path := methods().ReplaceAllString(pattern, "")
	switch {
	case pattern == "":
		return errors.New("the pattern is empty; " + wanted)
	case strings.Contains(pattern, "["):
		return refused("a pattern has no type parameters; " + wanted)
	case strings.ContainsAny(path, odd):
		return refused(wanted)
	case strings.Trim(path, "./") == "", pattern == "all", pattern == "std":
		return refused("it matches all code, so no throw would end a task; want the packages or functions that a throw must not unwind")
	case strings.HasPrefix(path, "./"), strings.HasPrefix(path, "../"), strings.HasPrefix(path, "/"):
		return refused("it is a folder; want the package's import path")
	case strings.HasSuffix(path, "/"), strings.HasSuffix(path, ".") && !strings.HasSuffix(path, "..."):
		return refused(wanted)
	case path != pattern && strings.Contains(path, "..."):
		return refused("a pattern with ... matches packages, not methods; want the import path of the type's package")
	}
	return nil
}

const wanted = "want a package, as in gorm.io/gorm or gorm.io/gorm/..., or a function, as in PATH.Func, PATH.Type.Method, " +
	"PATH.(*Type).Method or PATH.(*Type).*"

// Set is a set of rules, for looking up functions. A nil Set is empty.
type Set struct {
	exact map[string]Rule // a function, or a package
	types []Rule          // PATH.Type.*
	trees []tree
}

// NewSet returns a set of rules that Check accepts. mainPath is the path of the program's main
// package, which is called main in the names of its functions.
func NewSet(rules []Rule, mainPath string) *Set {
	s := &Set{exact: map[string]Rule{}}
	for _, r := range rules {
		s.add(r)
		if rest, ok := strings.CutPrefix(r.Pattern, mainPath); ok && mainPath != "" && (rest == "" || rest[0] == '.') {
			s.add(Rule{"main" + rest, r.NoSuspend})
		}
	}
	return s
}

func (s *Set) add(r Rule) {
	switch {
	case strings.HasSuffix(r.Pattern, ".*"):
		s.types = append(s.types, Rule{strings.TrimSuffix(r.Pattern, "*"), r.NoSuspend})
	case strings.Contains(r.Pattern, "..."):
		s.trees = append(s.trees, tree{newPaths(r.Pattern), r.NoSuspend})
	default:
		s.exact[r.Pattern] = Rule{r.Pattern, r.NoSuspend || s.exact[r.Pattern].NoSuspend}
	}
}

// Match reports whether a function is kept, and whether the task must not be suspended in it
// either. function has the form of a name in a stack trace. Polls call Match, so it calls nothing
// that may poll: in package strings, only code with loops does.
func (s *Set) Match(function string) (kept, noSuspend bool) {
	if s == nil {
		return false, false
	}
	pkg, name := split(function)
	note := func(by bool) { kept, noSuspend = true, noSuspend || by }
	if r, ok := s.exact[pkg]; ok {
		note(r.NoSuspend)
	}
	if r, ok := s.exact[name]; ok {
		note(r.NoSuspend)
	}
	for _, r := range s.types {
		if strings.HasPrefix(name, r.Pattern) {
			note(r.NoSuspend)
		}
	}
	for _, t := range s.trees {
		if t.match(pkg) {
			note(t.noSuspend)
		}
	}
	return kept, noSuspend
}
