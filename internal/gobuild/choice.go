package gobuild

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/instrument"
	"github.com/cocoon-go/cocoon/internal/keep"
)

// Tested lists the packages of the standard library that pass their own tests with polls in them:
// the pattern std of -cocoon.pkgs.
var Tested = strings.Fields(`archive/tar archive/zip bytes compress/bzip2 compress/flate compress/gzip compress/lzw compress/zlib
	encoding/asn1 encoding/csv encoding/gob encoding/hex encoding/json encoding/xml go/parser go/types html html/template image
	image/draw image/gif image/jpeg image/png index/suffixarray io math/big mime/multipart mime/quotedprintable net/mail regexp
	regexp/syntax slices sort strings text/scanner text/tabwriter text/template text/template/parse`)

// kept lists modules that Cocoon's runtime calls during decisions, under its locks and on its
// timer's thread.
var kept = []string{"github.com/tetratelabs/wazero/...", "golang.org/x/sys/..."}

func isKept(pkg string) bool {
	return slices.ContainsFunc(kept, func(p string) bool { return keep.MatchPath(p, pkg) })
}

// choice determines which packages are rewritten.
type choice struct {
	others   bool     // all packages outside the standard library
	tested   bool     // the packages of Tested
	patterns []string // packages that match these, as the go command matches them
	sections []string // names of functions; other names have no effect
	keeps    string   // flags for package safepoint
	explains bool     // -x: report what the compiler refuses
}

// choose makes the choice of a command line: by the patterns, or everything outside the standard
// library if there are none.
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
				return c, fmt.Errorf("-cocoon.pkgs: %s never polls: %s; leave it out", p, why)
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

// packagesOf returns the import paths that may precede a function's full name: PATH.Func,
// PATH.Type.Method or PATH.(*Type).Method, where the last element of a path may contain dots. A
// name without such a path is not a function's name.
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

// refused returns the reason if a package is never rewritten, or "".
func refused(pkg string) string {
	if isKept(pkg) {
		return "Cocoon's runtime calls it while it decides"
	}
	return instrument.Refused(pkg, isStandard(pkg))
}

// isStandard reports whether an import path may belong to the standard library: the first element
// of its paths has no dot, which is rare elsewhere.
func isStandard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".")
}

// has reports whether a package with that path is certainly rewritten too; it does not resolve
// patterns of folders.
func (c choice) has(pkg string) bool {
	if refused(pkg) != "" {
		return false
	}
	return c.others && !isStandard(pkg) || c.tested && slices.Contains(Tested, pkg) ||
		slices.ContainsFunc(c.patterns, func(p string) bool { return keep.MatchPath(p, pkg) })
}

// takes reports whether a package of a build is rewritten.
func (c choice) takes(p listed) bool {
	chosen := c.others && !p.Standard || c.tested && slices.Contains(Tested, p.path()) || slices.ContainsFunc(c.patterns, p.matches)
	return chosen && refused(p.path()) == ""
}

// Flags that mark a package for Toolexec. Together with the package, they and their values
// determine the result of the rewriting.
const (
	keyFlag     = "-cocoon="
	testedFlag  = "-cocoon.tested="  // rewrite the package if it is in Tested
	sectionFlag = "-cocoon.section=" // make a function of the package a section
)

// flags returns the flags that mark a package.
func (c choice) flags(key, pkg string) string {
	flags := keyFlag + key
	for _, s := range c.sections {
		if slices.Contains(packagesOf(s), pkg) {
			flags += " " + sectionFlag + s
		}
	}
	return flags
}

// gcflags returns the values of -gcflags that mark the chosen packages with the key, and that keep
// the user's flags for each package. The go command uses the last value that matches a package, so
// if the user gives flags, each package gets a separate value. The go command spends some time on
// each pattern and package; so Tested is not passed as a list of patterns.
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
	for _, p := range marked { // after the patterns that match them too
		values = append(values, p+"="+c.flags(key, p))
	}
	if c.keeps != "" {
		values = append(values, safepointPath+"="+c.keeps)
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
		if p.path() == safepointPath && c.keeps != "" {
			flags += " " + c.keeps
		}
		if flags != "" {
			values = append(values, p.path()+"="+flags)
		}
	}
	return values
}

// perPackage is a value of the go command's -gcflags.
// The pattern "" means the packages that the command line names.
type perPackage struct{ pattern, flags string }

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
