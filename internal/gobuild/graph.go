package gobuild

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/keep"
)

// graph is the packages that a command line needs, from go list.
type graph []listed

type listed struct {
	ImportPath string // with " [p.test]" for the variant of a test
	Name       string // in its package clause
	Dir        string
	Standard   bool
	DepOnly    bool // not named on the command line
	GoFiles    []string
	CgoFiles   []string
	EmbedFiles []string
	Module     *struct {
		Main       bool
		Dir, GoMod string
	}

	cwd    string // the folder that relative patterns start from
	isMain bool   // stack traces name it main
}

func (g graph) has(path string) bool {
	return slices.ContainsFunc(g, func(p listed) bool { return p.path() == path })
}

func (p listed) path() string {
	path, _, _ := strings.Cut(p.ImportPath, " ")
	return path
}

// matches reports whether the go command's -gcflags would match the package with the pattern.
func (p listed) matches(pattern string) bool {
	switch {
	case pattern == "all":
		return true
	case pattern == "std":
		return p.Standard
	case isRelative(pattern):
		root := pattern
		if i := strings.Index(pattern, "..."); i >= 0 {
			root = pattern[:strings.LastIndex(pattern[:i], "/")]
		}
		rel, err := filepath.Rel(filepath.Join(p.cwd, root), p.Dir)
		if rel = filepath.ToSlash(rel); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			return false
		}
		if root == pattern {
			return rel == "."
		}
		return keep.MatchPath(pattern[len(root)+1:], rel)
	}
	return keep.MatchPath(pattern, p.path())
}

func isRelative(pattern string) bool {
	return pattern == "." || pattern == ".." || strings.HasPrefix(pattern, "./") || strings.HasPrefix(pattern, "../")
}

// selecting lists the flags that decide which packages and files are in a build.
var selecting = strings.Fields("tags mod modfile overlay race msan asan compiler installsuffix")

// list returns the graph from go list, which it calls once. It ignores go list's complaints about
// the command line, because the verb itself will repeat them.
func (c *Command) list(ctx context.Context) (graph, error) {
	if c.packages != nil {
		return c.packages, nil
	}
	flags := []string{"-e", "-json=ImportPath,Name,Dir,Standard,DepOnly,GoFiles,CgoFiles,EmbedFiles,Module"}
	if c.Verb == "test" {
		flags = append(flags, "-test")
	}
	args := c.line.listArgs(flags...)
	if c.line.has("x") {
		fmt.Fprintln(c.Stderr, shellLine(append([]string{"go"}, args...)))
	}
	list := exec.CommandContext(ctx, "go", args...)
	var out, stderr bytes.Buffer
	list.Stdout, list.Stderr = &out, &stderr
	if err := list.Run(); err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	var err error
	c.packages, err = c.line.readList(&out)
	for i, p := range c.packages {
		c.packages[i].isMain = p.Name == "main" && !p.DepOnly && c.Verb != "test"
	}
	return c.packages, err
}

func (l *goLine) listArgs(flags ...string) []string {
	args := []string{"list"}
	if l.chdir != "" {
		args = append(args, "-C", l.chdir)
	}
	args = append(append(args, "-deps"), flags...)
	args = append(args, l.words(func(name string) bool { return slices.Contains(selecting, name) })...)
	return append(append(args, "--"), l.packages...)
}

func (l *goLine) readList(out io.Reader) (graph, error) {
	cwd, err := filepath.Abs(l.chdir)
	if err != nil {
		return nil, err
	}
	g, err := decodeList[listed](out)
	for i := range g {
		g[i].cwd = cwd
	}
	return g, err
}

// decodeList decodes go list's output; P has the fields of interest.
func decodeList[P any](out io.Reader) (all []P, err error) {
	for d := json.NewDecoder(out); ; {
		var p P
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading go list's answer: %w", err)
		}
		all = append(all, p)
	}
}
