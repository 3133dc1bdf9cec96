package gobuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/cocoon-go/cocoon/instrument"
)

// PackageGaps are the functions of a package that the build rewrites, with their gaps between safe
// points.
type PackageGaps struct {
	Path      string
	Named     bool // on the command line
	Functions []instrument.FunctionGaps
}

// ErrGo is the error if the go command has found an error, which it has reported itself.
var ErrGo = errors.New("the go command found errors")

// source is go list's description of a compiled package.
type source struct {
	ImportPath      string
	Export          string
	CompiledGoFiles []string
	ImportMap       map[string]string
	Module          *struct{ GoVersion string }
}

// Gaps returns where the packages that the command line would rewrite have no safe points,
// dependencies first. It rewrites nothing; it compiles the packages unchanged, for their export
// data. The go command's messages go to Stderr.
func (c *Command) Gaps(ctx context.Context) (all []PackageGaps, err error) {
	s, err := c.survey(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range s.packages {
		if !s.taken[p.ImportPath] {
			continue
		}
		functions, err := instrument.Gaps(s.sources.of(p), s.options)
		if err != nil {
			return nil, err
		}
		for i := range functions {
			functions[i].Gaps = explained(functions[i].Gaps, s.taken)
		}
		all = append(all, PackageGaps{p.ImportPath, !p.DepOnly, functions})
	}
	findReached(all)
	return all, nil
}

// survey is the common input of reports about the packages of a command line.
type survey struct {
	packages graph
	taken    map[string]bool // the rewritten packages
	sources  sources
	options  instrument.Options
}

func (c *Command) survey(ctx context.Context) (s survey, err error) {
	if err := hasGo(); err != nil {
		return s, err
	}
	if err := c.line.known(); err != nil {
		return s, err
	}
	chosen, err := choose(c.patterns)
	if err != nil {
		return s, err
	}
	sections, err := c.sections(ctx)
	if err != nil {
		return s, err
	}
	chosen.mark(sections)
	if s.sources, err = c.compile(ctx); err != nil {
		return s, err
	}
	if s.packages, err = c.list(ctx); err != nil {
		return s, err
	}
	s.taken, s.options = map[string]bool{}, instrument.Options{Instrumented: chosen.has}
	for _, p := range s.packages {
		s.taken[p.ImportPath] = chosen.takes(p)
	}
	if !slices.ContainsFunc(s.packages, func(p listed) bool { return !p.DepOnly && s.taken[p.ImportPath] }) {
		return s, errNoneTaken(s.packages)
	}
	return s, nil
}

// known returns an error for a flag that go build lacks. Go list gets only some of the flags, and
// would not complain.
func (l *goLine) known() error {
	for _, f := range l.flags {
		if !slices.Contains(withoutValue, f.name) && !slices.Contains(withValue, f.name) {
			return fmt.Errorf("there is no flag -%s; want a flag of go build, or %s", f.name, ownFlagNames())
		}
	}
	return nil
}

// errNoneTaken returns the error for a command line without a package to rewrite.
func errNoneTaken(packages graph) error {
	for _, p := range packages {
		if !p.DepOnly {
			return fmt.Errorf("no package of the command line would be rewritten: %s; want a package of the main module, or one that -cocoon.pkgs matches", whyNot(p.path()))
		}
	}
	return errors.New("the command line names no package; want packages, as for go build")
}

// sources contains all packages of a command line, by import path.
type sources map[string]source

// compile makes go list compile the packages.
func (c *Command) compile(ctx context.Context) (sources, error) {
	args := c.line.listArgs("-export", "-compiled", "-json=ImportPath,Export,CompiledGoFiles,ImportMap,Module")
	if c.line.has("x") {
		fmt.Fprintln(c.Stderr, shellLine(append([]string{"go"}, args...)))
	}
	list := exec.CommandContext(ctx, "go", args...)
	var out bytes.Buffer
	list.Stdout, list.Stderr = &out, c.Stderr
	if err := list.Run(); err != nil {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil {
			return nil, ErrGo
		}
		return nil, fmt.Errorf("running go list: %w", err)
	}
	all, err := decodeList[source](&out)
	by := sources{}
	for _, p := range all {
		by[p.ImportPath] = p
	}
	return by, err
}

// of returns a package with the files that the compiler would get.
func (s sources) of(p listed) instrument.Package {
	c := s[p.ImportPath]
	out := instrument.Package{Path: p.path(), Std: p.Standard, ImportMap: c.ImportMap, Exports: map[string]string{}}
	if c.Module != nil && c.Module.GoVersion != "" {
		out.GoVersion = "go" + c.Module.GoVersion
	}
	for path, dep := range s {
		out.Exports[path] = dep.Export
	}
	for _, file := range c.CompiledGoFiles {
		if !filepath.IsAbs(file) {
			file = filepath.Join(p.Dir, file)
		}
		out.Files = append(out.Files, file)
	}
	return out
}

// explained removes calls of rewritten packages, and for all other packages adds the reason why
// they are not rewritten.
func explained(gaps []instrument.Gap, taken map[string]bool) (left []instrument.Gap) {
	for _, g := range gaps {
		if g.Package != "" && taken[g.Package] {
			continue
		}
		if g.Package != "" {
			g.Why += ": " + whyNot(g.Package)
		}
		left = append(left, g)
	}
	return left
}

func whyNot(pkg string) string {
	if why := refused(pkg); why != "" {
		return fmt.Sprintf("%s never polls: %s", pkg, why)
	}
	return fmt.Sprintf("%s is not among -cocoon.pkgs", pkg)
}
