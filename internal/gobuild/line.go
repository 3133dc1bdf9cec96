package gobuild

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// goLine is a command line of the go command, parsed as far as this package needs it.
type goLine struct {
	chdir    string   // value of -C, which must come first
	flags    []flagOf // as given, except for the flags below
	gcflags  []string // values of -gcflags
	toolexec string   // value of -toolexec
	packages []string // patterns or files
	rest     []string // the words after the flags, including packages, and from -args on
}

// flagOf is one flag; its words are its words on the command line.
type flagOf struct {
	name, value string
	words       []string
}

// withoutValue are the go command's flags that take a value only after a "=".
var withoutValue = strings.Fields(`a asan artifacts benchmem buildvcs c cover failfast fullpath json linkshared modcacherw msan
	n race short trimpath v work x i h help`)

// withValue lists the flags of go build that take a value.
var withValue = strings.Fields(`asmflags buildmode C compiler covermode coverpkg gccgoflags gcflags installsuffix ldflags mod
	modfile o overlay p pgo pkgdir tags toolexec`)

// ownFlags lists this program's flags, each with a value.
var ownFlags = []string{"cocoon.pkgs", "cocoon.keep", "cocoon.policies"}

// Parse parses the arguments of cocoon build, run or test: the arguments of the go command's verb,
// and the flags -cocoon.pkgs, -cocoon.keep and -cocoon.policies anywhere among its flags.
func Parse(verb string, args []string) (*Command, error) {
	c := &Command{Verb: verb}
	for len(args) > 0 && args[0] != "-args" && args[0] != "--args" {
		if !isFlag(args[0]) {
			if verb != "test" {
				break
			}
			c.line.rest = append(c.line.rest, args[0])
			c.line.addPackage(args[0])
			args = args[1:]
			continue
		}
		f, left, err := cutFlag(args)
		if err != nil {
			return nil, err
		}
		args = left
		if err := c.take(f); err != nil {
			return nil, err
		}
	}
	if verb != "test" {
		c.line.packages = leadingPackages(verb, args)
	}
	c.line.rest = append(c.line.rest, args...)
	return c, nil
}

func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' && arg != "--" }

// cutFlag removes the first flag from args.
func cutFlag(args []string) (flagOf, []string, error) {
	name, value, hasValue := strings.Cut(strings.TrimPrefix(args[0][1:], "-"), "=")
	if hasValue || slices.Contains(withoutValue, name) {
		return flagOf{name, value, args[:1]}, args[1:], nil
	}
	if len(args) == 1 {
		if own(name) {
			return flagOf{}, nil, cmp.Or(unknown(name), fmt.Errorf("-%s has no value", name))
		}
		return flagOf{name, "", args[:1]}, nil, nil // the go command reports the mistake better
	}
	return flagOf{name, args[1], args[:2]}, args[2:], nil
}

func own(name string) bool { return strings.HasPrefix(name, "cocoon.") }

func unknown(name string) error {
	if slices.Contains(ownFlags, name) {
		return nil
	}
	return fmt.Errorf("there is no flag -%s; want %s", name, ownFlagNames())
}

func ownFlagNames() string {
	last := len(ownFlags) - 1
	return "-" + strings.Join(ownFlags[:last], ", -") + " or -" + ownFlags[last]
}

// take stores one flag.
func (c *Command) take(f flagOf) error {
	l := &c.line
	switch f.name {
	case "cocoon.pkgs":
		for p := range strings.SplitSeq(f.value, ",") {
			if p = strings.TrimSpace(p); p == "" {
				return fmt.Errorf("-cocoon.pkgs %q has an empty pattern; want package patterns with commas between them", f.value)
			}
			c.patterns = append(c.patterns, p)
		}
	case "cocoon.keep":
		return c.addKeeps(f.value)
	case "cocoon.policies":
		if f.value == "" {
			return errors.New("-cocoon.policies has no value; want the file of a policy document")
		}
		c.Policies = append(c.Policies, f.value)
	case "gcflags":
		l.gcflags = append(l.gcflags, f.value)
	case "toolexec":
		l.toolexec = f.value
	case "C":
		l.chdir = f.value
	case "compiler":
		if f.value != "gc" {
			return fmt.Errorf("-compiler %s: polls are inserted only for the compiler of the Go distribution; want gc", f.value)
		}
		l.flags = append(l.flags, f)
	default:
		if own(f.name) {
			return unknown(f.name)
		}
		// The tests' own flags may come after the packages, and take values that look like
		// packages.
		if len(l.rest) > 0 {
			l.rest = append(l.rest, f.words...)
			return nil
		}
		l.flags = append(l.flags, f)
	}
	return nil
}

// addPackage adds a package pattern of go test: the patterns must be consecutive.
func (l *goLine) addPackage(pattern string) {
	if len(l.packages) == len(l.rest)-1 {
		l.packages = append(l.packages, pattern)
	}
}

// leadingPackages returns the packages among the words after the flags of go build or go run.
func leadingPackages(verb string, args []string) []string {
	if verb != "run" || len(args) == 0 {
		return args
	}
	files := slices.IndexFunc(args, func(a string) bool { return !strings.HasSuffix(a, ".go") })
	if files < 0 {
		files = len(args)
	}
	return args[:max(files, 1)]
}

// has reports whether a flag without a value is given.
func (l *goLine) has(name string) bool {
	return slices.ContainsFunc(l.flags, func(f flagOf) bool { return f.name == name && f.value != "false" })
}

// words returns the words of the flags for which keep holds.
func (l *goLine) words(keep func(name string) bool) (all []string) {
	for _, f := range l.flags {
		if keep(f.name) {
			all = append(all, f.words...)
		}
	}
	return all
}
