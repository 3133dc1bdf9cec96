package gobuild

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/instrument"
)

// Tested are the standard library's packages whose own tests pass with polls in them: the pattern
// std of -cocoon.pkgs.
var Tested = strings.Fields(`archive/tar archive/zip bytes compress/bzip2 compress/flate compress/gzip compress/lzw compress/zlib
	encoding/asn1 encoding/csv encoding/gob encoding/hex encoding/json encoding/xml go/parser go/types html html/template image
	image/draw image/gif image/jpeg image/png index/suffixarray math/big mime/multipart mime/quotedprintable net/mail regexp
	regexp/syntax slices sort strings text/scanner text/tabwriter text/template text/template/parse`)

// kept are modules that Cocoon's runtime calls while it decides, under its locks and on its timer's
// thread.
var kept = []string{"github.com/tetratelabs/wazero/...", "golang.org/x/sys/..."}

func isKept(pkg string) bool {
	return slices.ContainsFunc(kept, func(p string) bool { return matches(p, pkg) })
}

// choice says which packages are rewritten.
type choice struct {
	others   bool     // all but the standard library
	tested   bool     // those of Tested
	patterns []string // and these, as the go command matches them against a package
	sections []string // names of functions; names of anything else do no harm
	explains bool     // -x: it says what the compiler refuses
}

// choose makes the choice of a command line: by the patterns, or all but the standard library
// without any.
func choose(patterns []string) (choice, error) {
	c := choice{others: len(patterns) == 0}
	for _, p := range patterns {
		switch {
		case p == "all" || p == "...":
			c.others = true
		case p == "std":
			c.tested = true
		default:
			if why := refused(p); why != "" && !strings.Contains(p, "...") {
				return c, fmt.Errorf("-cocoon.pkgs: %s never polls: %s", p, why)
			}
			c.patterns = append(c.patterns, p)
		}
	}
	return c, nil
}

// mark adds the functions that become sections, and their packages.
func (c *choice) mark(sections []string) {
	c.sections = sections
	for _, p := range c.marked() {
		if !c.has(p) {
			c.patterns = append(c.patterns, p)
		}
	}
}

// marked returns the import paths that packages with sections may have.
func (c choice) marked() (paths []string) {
	for _, s := range c.sections {
		for _, p := range packagesOf(s) {
			if refused(p) == "" && !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	return paths
}

// packagesOf returns the import paths that a function's full name may begin with: PATH.Func,
// PATH.Type.Method or PATH.(*Type).Method, where the last element of a path may have dots itself. A
// name with none is no function's.
func packagesOf(function string) (paths []string) {
	if strings.ContainsAny(function, " \t\n,'\"") {
		return nil
	}
	dir, base := path.Split(function)
	if pkg, _, ok := strings.Cut(base, ".("); ok {
		return []string{dir + pkg}
	}
	parts := strings.Split(base, ".")
	for n := max(len(parts)-2, 1); n < len(parts); n++ {
		if pkg := strings.Join(parts[:n], "."); pkg != "" {
			paths = append(paths, dir+pkg)
		}
	}
	return paths
}

// refused says why a package is never rewritten, or "".
func refused(pkg string) string {
	if isKept(pkg) {
		return "Cocoon's runtime calls it while it decides"
	}
	return instrument.Refused(pkg, isStandard(pkg))
}

// isStandard reports whether an import path may be one of the standard library: its paths have no
// dot in the first element, and hardly any other has none.
func isStandard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".")
}

// has reports whether a package of that path is surely rewritten too; patterns of folders are not
// looked into.
func (c choice) has(pkg string) bool {
	if refused(pkg) != "" {
		return false
	}
	return c.others && !isStandard(pkg) || c.tested && slices.Contains(Tested, pkg) ||
		slices.ContainsFunc(c.patterns, func(p string) bool { return matches(p, pkg) })
}

// takes reports whether a package of a build is rewritten.
func (c choice) takes(p listed) bool {
	chosen := c.others && !p.Standard || c.tested && slices.Contains(Tested, p.path()) || slices.ContainsFunc(c.patterns, p.matches)
	return chosen && refused(p.path()) == ""
}

// Flags that mark a package for Toolexec; with their values they are what the rewriting depends on,
// beside the package.
const (
	keyFlag     = "-cocoon="
	testedFlag  = "-cocoon.tested="  // it is rewritten if it is one of Tested
	sectionFlag = "-cocoon.section=" // a function of it becomes a section
)

// flags returns what a package is marked with.
func (c choice) flags(key, pkg string) string {
	flags := keyFlag + key
	for _, s := range c.sections {
		if slices.Contains(packagesOf(s), pkg) {
			flags += " " + sectionFlag + s
		}
	}
	return flags
}

// gcflags returns the values of -gcflags that mark the chosen packages with the key, and give to
// each package what the user gives it. The go command takes the last value that matches a package,
// so with flags of the user each package gets its own. It spends some time on each pattern and
// package; thus Tested is no list of patterns.
func (c choice) gcflags(key string, given []perPackage, g graph) []string {
	if len(given) > 0 {
		return c.gcflagsEach(key, given, g)
	}
	var values []string
	if c.others {
		values = append(values, "all="+keyFlag+key, "std=")
	}
	if c.tested {
		values = append(values, "std="+testedFlag+key)
	}
	marked := c.marked()
	for _, p := range c.patterns {
		if !slices.Contains(marked, p) {
			values = append(values, p+"="+keyFlag+key)
		}
	}
	for _, p := range marked { // behind the patterns that match them too
		values = append(values, p+"="+c.flags(key, p))
	}
	return values
}

func (c choice) gcflagsEach(key string, given []perPackage, g graph) (values []string) {
	for _, p := range g {
		flags := ""
		for _, f := range given {
			if f.matches(p) {
				flags = f.flags
			}
		}
		if c.takes(p) {
			flags += " " + c.flags(key, p.path())
		}
		if flags != "" {
			values = append(values, p.path()+"="+flags)
		}
	}
	return values
}

// perPackage is a value of the go command's -gcflags.
type perPackage struct{ pattern, flags string } // "" is the packages that the command line names

func (f perPackage) matches(p listed) bool {
	if f.pattern == "" {
		return !p.DepOnly
	}
	return p.matches(f.pattern)
}

func parsePerPackage(value string) (perPackage, error) {
	value = strings.TrimSpace(value)
	if value == "" || value[0] == '-' {
		return perPackage{"", value}, nil
	}
	pattern, flags, ok := strings.Cut(value, "=")
	if !ok || pattern == "" {
		return perPackage{}, errors.New("-gcflags " + value + ": want FLAGS or PATTERN=FLAGS")
	}
	return perPackage{strings.TrimSpace(pattern), flags}, nil
}
