package gobuild

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// goodFor is how long a command line that was checked needs no new check.
const goodFor = 24 * time.Hour

// check says which pattern of -cocoon.pkgs matches no package; -gcflags does not mind. To list the packages takes half as
// long as a build with nothing to do, so a command line whose patterns are right is remembered, for a while, as an empty
// file. A pattern that stops matching is noticed after that.
func (c *Command) check(ctx context.Context, args []string) error {
	if !slices.ContainsFunc(c.patterns, func(p string) bool { return !always(p) }) {
		return nil
	}
	mark := c.mark(args)
	if age, ok := ageOf(mark); ok && age < goodFor {
		return nil
	}
	all, err := c.line.list(ctx, c.Verb)
	if err != nil {
		return ctx.Err() // what is wrong with the arguments the go command itself says better
	}
	for _, pattern := range c.patterns {
		if !always(pattern) && !slices.ContainsFunc(all, func(p listed) bool { return p.matches(pattern) }) {
			return fmt.Errorf("-cocoon.pkgs: the pattern %s matches no package of this build; go list -deps names those there are", pattern)
		}
	}
	remember(mark)
	return nil
}

// always reports whether a pattern is right in any build.
func always(pattern string) bool { return pattern == "all" || pattern == "..." || pattern == "std" }

// mark is the file that stands for the command line, "" without a cache. The arguments include the key.
func (c *Command) mark(args []string) string {
	cwd, err := os.Getwd()
	if c.Cache == "" || err != nil {
		return ""
	}
	parts := append(slices.Clone(args), cwd)
	for _, name := range []string{"GOFLAGS", "GOOS", "GOARCH", "GOWORK", "CGO_ENABLED"} {
		parts = append(parts, os.Getenv(name))
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return filepath.Join(c.Cache, "checked-"+hex.EncodeToString(sum[:12]))
}

func ageOf(file string) (age time.Duration, ok bool) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, false
	}
	return time.Since(info.ModTime()), true
}

// remember makes the mark, and removes those that are too old. A cache that cannot be written remembers nothing.
func remember(mark string) {
	if mark == "" {
		return
	}
	dir := filepath.Dir(mark)
	if os.MkdirAll(dir, 0o755) != nil {
		return
	}
	old, _ := filepath.Glob(filepath.Join(dir, "checked-*"))
	for _, file := range old {
		if age, ok := ageOf(file); ok && age >= goodFor {
			_ = os.Remove(file)
		}
	}
	_ = os.WriteFile(mark, nil, 0o644)
}
