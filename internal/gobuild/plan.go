package gobuild

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// plan returns the arguments of the go command.
func (c *Command) plan(ctx context.Context) (args []string, err error) {
	chosen, err := c.chosen(ctx)
	if err != nil {
		return nil, err
	}
	given, all, err := c.givenFlags(ctx)
	if err != nil {
		return nil, err
	}
	toolexec, key, err := c.toolexec(chosen)
	if err != nil {
		return nil, err
	}
	args = []string{c.Verb}
	if c.line.chdir != "" {
		args = append(args, "-C", c.line.chdir)
	}
	args = append(args, "-toolexec="+toolexec)
	for _, v := range chosen.gcflags(key, given, all) {
		args = append(args, "-gcflags="+v)
	}
	args = append(args, c.line.words(func(string) bool { return true })...)
	return append(args, c.line.rest...), nil
}

// chosen returns the packages to rewrite, with their sections, and the rules for package safepoint.
// It adopts flags from the environment first.
func (c *Command) chosen(ctx context.Context) (chosen choice, err error) {
	if chosen, err = choose(c.patterns); err != nil {
		return chosen, err
	}
	if err := c.line.inherit(); err != nil {
		return chosen, err
	}
	sections, err := c.sections(ctx)
	if err != nil {
		return chosen, err
	}
	chosen.mark(sections)
	chosen.keeps = keepFlags(c.keeps)
	return chosen, nil
}

// givenFlags returns the given values of -gcflags, and the packages of the build, which matter only
// if there are such values.
func (c *Command) givenFlags(ctx context.Context) (given []perPackage, all graph, err error) {
	for _, v := range c.line.gcflags {
		f, err := parsePerPackage(v)
		if err != nil {
			return nil, nil, err
		}
		given = append(given, f)
	}
	if len(given) > 0 {
		all, err = c.list(ctx)
	}
	return given, all, err
}

// toolexec returns the value of -toolexec, which ends with the given value, and the key of the
// rewriting.
func (c *Command) toolexec(chosen choice) (value, id string, err error) {
	if _, err := split(c.line.toolexec); err != nil {
		return "", "", fmt.Errorf("-toolexec %s: %w", c.line.toolexec, err)
	}
	tool := c.toolLine(chosen)
	if id, err = key(tool); err != nil {
		return "", "", err
	}
	if c.line.has("x") { // has no effect on the build
		tool = slices.Insert(tool, len(tool)-1, "-x")
	}
	value, err = join(throughShell(tool))
	return strings.TrimSpace(value + " " + c.line.toolexec), id, err
}

// sections returns the names of functions that become sections, without duplicates: names in the
// policy documents, and names that the sources limit.
func (c *Command) sections(ctx context.Context) (all []string, err error) {
	for _, file := range c.Policies {
		names, err := c.Limited(file)
		if err != nil {
			return nil, fmt.Errorf("-cocoon.policies: %w", err)
		}
		all = append(all, names...)
	}
	if slices.ContainsFunc(all, namesMain) {
		packages, err := c.list(ctx)
		if err != nil {
			return nil, ctx.Err() // the go command itself reports wrong arguments better
		}
		if err := checkMain(all, packages); err != nil {
			return nil, err
		}
	}
	names, err := c.find(ctx)
	all = append(all, names...)
	slices.Sort(all)
	return slices.Compact(all), err
}

// key identifies the inputs of the rewriting of a package, other than the package and its sections:
// this program, and its options.
func key(tool []string) (string, error) {
	id, err := identity(tool[0])
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(id + "\x00" + strings.Join(tool[1:], "\x00")))
	return hex.EncodeToString(sum[:12]), nil
}

// buildID matches the mark that Go's linker leaves at the beginning of a program; its last part is
// a hash of the content.
var buildID = regexp.MustCompile(`[\w-]{20}/[\w-]{20}/[\w-]{20}/[\w-]{20}`)

// identity distinguishes programs by the build ID, or else by the whole content.
func identity(program string) (string, error) {
	f, err := os.Open(program)
	if err != nil {
		return "", fmt.Errorf("reading this program: %w", err)
	}
	defer f.Close()
	start := make([]byte, 32<<10)
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("reading this program: %w", err)
	}
	if id := buildID.Find(start[:n]); id != nil {
		return string(id), nil
	}
	h := sha256.New()
	h.Write(start[:n])
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading this program: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
