package gobuild

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var goroot = flag.String("goroot", "", "compare the Go distribution's tests whose path matches, built by go and by cocoon: make goroot")

// The kinds of the distribution's tests, given by their first comment.
var (
	singles     = strings.Fields("run runoutput compile errorcheck")
	directories = strings.Fields("rundir compiledir errorcheckdir")
	kindLine    = regexp.MustCompile(`(?m)^// ?(run|runoutput|compile|errorcheck|rundir|compiledir|errorcheckdir)([ \t].*)?$`)
)

// distribution compares the tests of the Go distribution.
type distribution struct {
	// the folders of the tests and of the tools, this program, and -importcfg of the standard
	// library
	test, tool, own, imports string

	mu     sync.Mutex
	counts map[string]int
}

// TestDistribution builds and runs each test of the Go distribution twice, by go and by cocoon, and
// compares the output of the compiler and of the program. It calls the compiler as the go command
// does.
func TestDistribution(t *testing.T) {
	if *goroot == "" {
		t.Skip("make goroot compares them")
	}
	chosen := regexp.MustCompile(*goroot)
	d := newDistribution(t)
	t.Run("tests", func(t *testing.T) {
		err := filepath.WalkDir(d.test, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() && strings.HasSuffix(path, ".dir") {
				return cmpDir(err)
			}
			name, _ := filepath.Rel(d.test, path)
			if kind, args := d.kind(path); kind != "" && chosen.MatchString(name) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					d.compare(t, path, kind, args)
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	var lines []string
	for what, n := range d.counts {
		lines = append(lines, fmt.Sprintf("%-28s %5d", what, n))
	}
	slices.Sort(lines)
	t.Logf("the tests of the distribution:\n%s", strings.Join(lines, "\n"))
}

func cmpDir(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

func newDistribution(t *testing.T) *distribution {
	t.Helper()
	d := &distribution{counts: map[string]int{}}
	root := strings.Fields(output(t, "go", "env", "GOROOT", "GOTOOLDIR"))
	d.test, d.tool = filepath.Join(root[0], "test"), root[1]
	if _, err := os.Stat(d.test); err != nil {
		t.Skip("the Go distribution has no tests: ", err)
	}
	var err error
	if d.own, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	d.imports = filepath.Join(t.TempDir(), "importcfg")
	cfg := output(t, "go", "list", "-export", "-f", "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}", "std")
	if err := os.WriteFile(d.imports, []byte(cfg), 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	return string(out)
}

// kind returns the kind of a test, or "" if the file is not a test used here.
func (d *distribution) kind(path string) (kind string, args []string) {
	if filepath.Ext(path) != ".go" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if match, matchErr := build.Default.MatchFile(filepath.Dir(path), filepath.Base(path)); err != nil || matchErr != nil || !match {
		return "", nil
	}
	head, _, _ := bytes.Cut(text, []byte("\npackage "))
	m := kindLine.FindSubmatch(head)
	if m == nil {
		return "", nil
	}
	args = strings.Fields(string(m[2]))
	if slices.ContainsFunc(args, func(a string) bool { return a[0] == '-' }) {
		return "", nil // compiler flags
	}
	return string(m[1]), args
}

// outcome is the output of the compiler or the program.
type outcome struct {
	said  string
	code  int
	notes string // cocoon's notes about the build
}

// compare compares one test.
func (d *distribution) compare(t *testing.T, path, kind string, args []string) {
	if end, ok := t.Deadline(); ok && time.Until(end) < 2*time.Minute {
		d.count(kind + ": left out, no time")
		return
	}
	plain, rewritten := d.outcome(t, path, kind, args, false), d.outcome(t, path, kind, args, true)
	what := "same"
	switch {
	case plain.code == rewritten.code && plain.said == rewritten.said:
	case plain != d.outcome(t, path, kind, args, false):
		what = "differs from run to run"
	default:
		what = "differs"
		t.Errorf("by cocoon, exit code %d:\n%s\nby go, exit code %d:\n%s", rewritten.code, rewritten.said, plain.code, plain.said)
	}
	d.count(kind + ": " + what)
	if rewritten.notes != "" {
		d.count(kind + ": plainer or without polls")
		t.Log(rewritten.notes)
	}
}

func (d *distribution) count(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts[what]++
}

// outcome builds a test, and runs it if its kind requires this.
func (d *distribution) outcome(t *testing.T, path, kind string, args []string, rewrites bool) (o outcome) {
	dir := t.TempDir()
	switch {
	case slices.Contains(singles, kind):
		o = d.single(t, dir, path, strings.HasPrefix(kind, "run"), args, rewrites)
		if kind == "runoutput" && o.code == 0 {
			generated := filepath.Join(dir, "generated.go")
			if err := os.WriteFile(generated, []byte(o.said), 0o600); err != nil {
				t.Fatal(err)
			}
			o = d.single(t, t.TempDir(), generated, true, nil, rewrites)
		}
	case slices.Contains(directories, kind):
		o = d.directory(t, dir, strings.TrimSuffix(path, ".go")+".dir", kind == "rundir", rewrites)
	}
	o.said = varying.ReplaceAllString(strings.ReplaceAll(o.said, dir, "DIR"), "N")
	return o
}

// varying matches output that differs between runs.
var varying = regexp.MustCompile(`0x[0-9a-f]+|goroutine [0-9]+|\d+(\.\d+)?[mµn]?s\b|gp=\S+ m=\S+|/tmp/[^ :]+`)

// single compiles one file, and links and runs the program.
func (d *distribution) single(t *testing.T, dir, path string, runs bool, args []string, rewrites bool) outcome {
	name := "p"
	if runs {
		name = "main"
	}
	object := filepath.Join(dir, "p.a")
	o := d.compile(t, rewrites, name, d.imports, object, path)
	if o.code != 0 || !runs {
		return o
	}
	ran := d.link(t, dir, object, d.imports, filepath.Dir(path), args)
	ran.notes = o.notes
	return ran
}

func (d *distribution) compile(t *testing.T, rewrites bool, pkg, imports, object string, files ...string) outcome {
	var front, key []string
	if rewrites {
		front, key = []string{d.own, "toolexec", "-others", "-x", "--"}, []string{keyFlag + "x"}
	}
	words := slices.Concat(front, []string{filepath.Join(d.tool, "compile")}, key,
		[]string{"-dwarf=false", "-p=" + pkg, "-importcfg=" + imports, "-o", object}, files)
	return d.run(t, filepath.Dir(object), []string{"TOOLEXEC_IMPORTPATH=" + pkg}, words...)
}

// link links and runs a program.
func (d *distribution) link(t *testing.T, dir, object, imports, in string, args []string) outcome {
	program := filepath.Join(dir, "program")
	if o := d.run(t, dir, nil, filepath.Join(d.tool, "link"), "-s", "-w", "-importcfg="+imports, "-o", program, object); o.code != 0 {
		return o
	}
	return d.run(t, in, nil, append([]string{program}, args...)...)
}

// run runs a command for a minute at most.
func (d *distribution) run(t *testing.T, dir string, env []string, words ...string) (o outcome) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var out, notes bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), env...), &out, &out
	if words[0] == d.own {
		cmd.Stderr = &notes // the compiler writes to stdout
	}
	o.code, _ = exitCode(cmd.Run())
	o.said, o.notes = out.String(), notes.String()
	return o
}
