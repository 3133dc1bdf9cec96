package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/instrument"
	"github.com/cocoon-go/cocoon/internal/gobuild"
)

const gapsShown = 30

// functionGaps are the gaps of one function. The JSON form is for programs: existing names do not
// change, and new ones may be added.
type functionGaps struct {
	Package  string `json:"package"`
	Function string `json:"function"`
	Gaps     []gap  `json:"gaps"` // the longest first

	Distance  int  `json:"distance"` // from the start of a task, in calls
	Unreached bool `json:"unreached,omitempty"`
}

type gap struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Kind      string `json:"kind"`
	Reason    string `json:"reason"`
	Unbounded bool   `json:"unbounded"`
	LengthNS  int64  `json:"length_ns,omitempty"` // if it is bounded
	of        instrument.Gap
}

func runGaps(args []string, s streams) int {
	err := printGaps(args, s)
	var exit exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return int(exit) // the program, or the go command, has reported the error
	case errors.Is(err, gobuild.ErrGo):
		return exitFound
	}
	fmt.Fprintf(s.err, "cocoon gaps: %v\n", err)
	return exitUsage
}

func printGaps(args []string, s streams) error {
	if len(args) == 1 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
		fmt.Fprintf(s.out, gapsUsage, gapsShown)
		return nil
	}
	var o gapsOptions
	args, err := o.take(args)
	if err != nil {
		return fmt.Errorf("%w; run cocoon gaps -h for help", err)
	}
	if o.run && o.kept {
		return errors.New("-keeps and -run cannot be combined, because -keeps reports without a run; want one of them")
	}
	if o.kept {
		return o.keeps(args, s)
	}
	if o.run {
		return o.measure(args, s)
	}
	c, err := goCommand("build", args)
	if err != nil {
		return err
	}
	c.Stderr = s.err
	packages, err := c.Gaps(context.Background())
	if err != nil {
		return err
	}
	all := sortedGaps(packages, o.deps)
	return show(s.out, o, all, functionGaps.print)
}

// show prints as many elements of all as the options allow.
func show[T any](w io.Writer, o gapsOptions, all []T, print func(T, io.Writer)) error {
	shown := all
	if o.count > 0 && o.count < len(all) {
		shown = all[:o.count]
	}
	if o.json {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(shown)
	}
	for _, x := range shown {
		print(x, w)
	}
	if more := len(all) - len(shown); more > 0 {
		fmt.Fprintf(w, "and %d more; -n 0 shows all\n", more)
	}
	return nil
}

type gapsOptions struct {
	count           int
	deps, json, run bool
	kept            bool
}

// take parses its flags, which precede the other arguments, and returns the rest: the arguments of
// cocoon build.
func (o *gapsOptions) take(args []string) (rest []string, err error) {
	o.count = gapsShown
	for ; len(args) > 0; args = args[1:] {
		name, value, has := strings.Cut(strings.Replace(args[0], "--", "-", 1), "=")
		set := map[string]*bool{"-json": &o.json, "-run": &o.run, "-deps": &o.deps, "-keeps": &o.kept}[name]
		switch {
		case set != nil && has:
			if *set, err = strconv.ParseBool(value); err != nil {
				return nil, fmt.Errorf("%s=%q: want true or false", name, value)
			}
		case set != nil:
			*set = true
		case name == "-n":
			if !has && len(args) > 1 {
				value, args = args[1], args[1:]
			}
			if o.count, err = strconv.Atoi(value); err != nil || o.count < 0 {
				return nil, fmt.Errorf("-n %q: want a number of functions, or 0 for all", value)
			}
		default:
			return args, nil
		}
	}
	return nil, nil
}

// sortedGaps returns the functions of the named packages, or of all packages. It leaves out the
// initialisation of packages.
func sortedGaps(packages []gobuild.PackageGaps, deps bool) []functionGaps {
	all := []functionGaps{}
	for _, p := range packages {
		if !p.Named && !deps {
			continue
		}
		for _, f := range p.Functions {
			if f.Initialises {
				continue
			}
			of := functionGaps{Package: p.Path, Function: f.Func, Distance: f.Distance}
			if of.Unreached = f.Distance == instrument.Unreached; of.Unreached {
				of.Distance = 0
			}
			for _, g := range f.Gaps {
				of.Gaps = append(of.Gaps, gapOf(g))
			}
			all = append(all, of)
		}
	}
	slices.SortStableFunc(all, compareFunctions)
	return all
}

// compareFunctions puts functions that tasks reach first. Among them the longest stretches come
// first, and among equal ones the function nearest to a task.
func compareFunctions(a, b functionGaps) int {
	if a.Unreached != b.Unreached {
		return cmp.Compare(count(a.Unreached), count(b.Unreached))
	}
	return cmp.Or(instrument.CompareGaps(a.Gaps[0].of, b.Gaps[0].of), cmp.Compare(a.Distance, b.Distance))
}

func count(unreached bool) int {
	if unreached {
		return 1
	}
	return 0
}

func gapOf(g instrument.Gap) gap {
	out := gap{File: g.Pos.Filename, Line: g.Pos.Line, Kind: string(g.Kind), Reason: g.Why, of: g}
	if out.Unbounded = g.Length == instrument.Unbounded; !out.Unbounded {
		out.LengthNS = int64(g.Length)
	}
	return out
}

// print writes the function's longest gap on one line.
func (f functionGaps) print(w io.Writer) {
	g := f.Gaps[0]
	length := "unbounded"
	if !g.Unbounded {
		length = time.Duration(g.LengthNS).String()
	}
	more := ""
	if n := unbounded(f.Gaps[1:]); n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	if f.Unreached {
		more += " (no task reaches it, as far as the text shows)"
	}
	fmt.Fprintf(w, "%-10s %s:%d  %s.%s  %s: %s%s\n", length, nearby(g.File), g.Line, f.Package, f.Function, g.Kind, g.Reason, more)
}

func unbounded(gaps []gap) (n int) {
	for _, g := range gaps {
		if g.Unbounded {
			n++
		}
	}
	return n
}

// nearby returns the file's name relative to the current folder, if the file is below it.
func nearby(file string) string {
	cwd, err := filepath.Abs(".")
	if err != nil {
		return file
	}
	if rel, err := filepath.Rel(cwd, file); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return file
}
