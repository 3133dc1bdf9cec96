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
	"strings"
)

// keyFlag marks the packages to be rewritten; its value is what their rewriting depends on.
const keyFlag = "-cocoon="

// plan returns the arguments of the go command, and the outcome of checking the patterns, which goes on meanwhile.
func (c *Command) plan(ctx context.Context) (args []string, checked <-chan error, err error) {
	chosen, err := choose(c.patterns, c.Sections)
	if err != nil {
		return nil, nil, err
	}
	if err := c.line.inherit(); err != nil {
		return nil, nil, err
	}
	var given []perPackage
	for _, v := range c.line.gcflags {
		f, err := parsePerPackage(v)
		if err != nil {
			return nil, nil, err
		}
		given = append(given, f)
	}
	var all graph
	if len(given) > 0 {
		if all, err = c.line.list(ctx, c.Verb); err != nil {
			return nil, nil, err
		}
	}
	tool := c.toolLine(chosen)
	key, err := key(tool)
	if err != nil {
		return nil, nil, err
	}
	args = []string{c.Verb}
	if c.line.chdir != "" {
		args = append(args, "-C", c.line.chdir)
	}
	toolexec, err := join(tool)
	if err != nil {
		return nil, nil, err
	}
	args = append(args, strings.TrimSpace("-toolexec="+toolexec+" "+c.line.toolexec))
	for _, v := range chosen.gcflags(keyFlag+key, given, all) {
		args = append(args, "-gcflags="+v)
	}
	args = append(args, c.line.words(func(string) bool { return true })...)
	return append(args, c.line.rest...), c.check(ctx), nil
}

// check looks for patterns that match nothing, which -gcflags does not mind.
func (c *Command) check(ctx context.Context) <-chan error {
	checked := make(chan error, 1)
	if len(c.patterns) == 0 {
		checked <- nil
		return checked
	}
	go func() {
		all, err := c.line.list(ctx, c.Verb)
		if err != nil {
			all, err = nil, nil // the go command itself says what is wrong with its arguments
		} else {
			err = all.check(c.patterns)
		}
		checked <- err
	}()
	return checked
}

// key names what the rewriting of a package depends on, beside the package: this program, and what it is told.
func key(tool []string) (string, error) {
	id, err := identity(tool[0])
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(id + "\x00" + strings.Join(tool[1:], "\x00")))
	return hex.EncodeToString(sum[:12]), nil
}

// buildID is the mark that Go's linker leaves at the beginning of a program; its last part is a hash of the content.
var buildID = regexp.MustCompile(`[\w-]{20}/[\w-]{20}/[\w-]{20}/[\w-]{20}`)

// identity tells programs apart: by the build ID, or else by the whole content.
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
