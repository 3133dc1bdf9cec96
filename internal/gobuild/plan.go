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
	chosen, err := choose(c.patterns)
	if err != nil {
		return nil, err
	}
	if err := c.line.inherit(); err != nil {
		return nil, err
	}
	sections, err := c.sections(ctx)
	if err != nil {
		return nil, err
	}
	chosen.mark(sections)
	chosen.keeps = keepFlags(c.keeps)
	var given []perPackage
	for _, v := range c.line.gcflags {
		f, err := parsePerPackage(v)
		if err != nil {
			return nil, err
		}
		given = append(given, f)
	}
	var all graph
	if len(given) > 0 {
		if all, err = c.list(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := split(c.line.toolexec); err != nil {
		return nil, fmt.Errorf("-toolexec %s: %w", c.line.toolexec, err)
	}
	tool := c.toolLine(chosen)
	key, err := key(tool)
	if err != nil {
		return nil, err
	}
	if c.line.has("x") { // has no effect on the build
		tool = slices.Insert(tool, len(tool)-1, "-x")
	}
	args = []string{c.Verb}
	if c.line.chdir != "" {
		args = append(args, "-C", c.line.chdir)
	}
	toolexec, err := join(tool)
	if err != nil {
		return nil, err
	}
	args = append(args, strings.TrimSpace("-toolexec="+toolexec+" "+c.line.toolexec))
	for _, v := range chosen.gcflags(key, given, all) {
		args = append(args, "-gcflags="+v)
	}
	args = append(args, c.line.words(func(string) bool { return true })...)
	return append(args, c.line.rest...), nil
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
