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

var goroot = flag.String("goroot", "", "compare the Go distribution's tests that match, as in 'fixedbugs/.* run', built by go and by cocoon: make goroot")

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
			if test := d.parse(path); test.kind != "" && chosen.MatchString(name+" "+test.kind) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					d.compare(t, test)
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

// distributed is a test of the Go distribution.
type distributed struct {
	path, kind string
	args       []string // of the program
	gcflags    []string
}

// parse returns the test in a file, or an empty kind if the file is no test used here.
func (d *distribution) parse(path string) (test distributed) {
	if filepath.Ext(path) != ".go" {
		return test
	}
	text, err := os.ReadFile(path)
	if match, matchErr := build.Default.MatchFile(filepath.Dir(path), filepath.Base(path)); err != nil || matchErr != nil || !match {
		return test
	}
	head, _, _ := bytes.Cut(text, []byte("\npackage "))
	m := kindLine.FindSubmatch(head)
	if m == nil {
		return test
	}
	kind, args := string(m[1]), strings.TrimSpace(string(m[2]))
	if strings.Contains(args, "maymorestack") {
		d.count(kind + ": left out, it counts the package's calls")
		return test
	}
	if kind == "run" {
		if flags := gcflags.FindStringSubmatch(args); flags != nil {
			test.gcflags, args = strings.Fields(flags[1]), args[len(flags[0]):]
		}
	}
	test.path, test.args = path, strings.Fields(args)
	if slices.ContainsFunc(test.args, func(a string) bool { return a[0] == '-' }) {
		d.count(kind + ": left out, it has other flags")
		return test
	}
	test.kind = kind
	return test
}

// gcflags matches the only flag of tests that run which is supported here.
var gcflags = regexp.MustCompile(`^-gcflags[= ](?:["']?)(?:all=)?((?:-\S+?)(?: -\S+?)*)["']?(?:\s|$)`)

// outcome is the output of the compiler or the program.
type outcome struct {
	said  string
	code  int
	notes string // cocoon's notes about the build
}

func (o outcome) equals(other outcome) bool { return o.code == other.code && o.said == other.said }

// compare compares one test.
func (d *distribution) compare(t *testing.T, test distributed) {
	if end, ok := t.Deadline(); ok && time.Until(end) < 2*time.Minute {
		d.count(test.kind + ": left out, no time")
		return
	}
	rewritten := d.outcome(t, test, true)
	d.count(test.kind + ": " + d.verdict(t, test, rewritten))
	if rewritten.notes != "" {
		d.count(test.kind + ": plainer or without polls")
		t.Log(rewritten.notes)
	}
}

// verdict compares the outcome of the rewritten test with that of the original. The original of a
// test that runs is needed only if the outcome is not the one that the distribution demands.
func (d *distribution) verdict(t *testing.T, test distributed, rewritten outcome) string {
	if strings.HasPrefix(test.kind, "run") && rewritten.code == 0 && rewritten.said == demanded(test.path) {
		return "as demanded"
	}
	plain := d.outcome(t, test, false)
	switch {
	case plain.equals(rewritten):
		return "same"
	case !plain.equals(d.outcome(t, test, false)):
		return "differs from run to run"
	}
	t.Errorf("by cocoon, exit code %d:\n%s\nby go, exit code %d:\n%s", rewritten.code, rewritten.said, plain.code, plain.said)
	return "differs"
}

// demanded returns the output that the distribution demands of a test that runs.
func demanded(path string) string {
	text, err := os.ReadFile(strings.TrimSuffix(path, ".go") + ".out")
	if err != nil {
		return "" // most tests print nothing
	}
	return varying.ReplaceAllString(string(text), "N")
}

func (d *distribution) count(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts[what]++
}

// outcome builds a test, and runs it if its kind requires this.
func (d *distribution) outcome(t *testing.T, test distributed, rewrites bool) (o outcome) {
	dir := t.TempDir()
	switch {
	case slices.Contains(singles, test.kind):
		o = d.single(t, dir, test, strings.HasPrefix(test.kind, "run"), rewrites)
		if test.kind == "runoutput" && o.code == 0 {
			generated := distributed{path: filepath.Join(dir, "generated.go")}
			if err := os.WriteFile(generated.path, []byte(o.said), 0o600); err != nil {
				t.Fatal(err)
			}
			o = d.single(t, t.TempDir(), generated, true, rewrites)
		}
	case slices.Contains(directories, test.kind):
		o = d.directory(t, dir, strings.TrimSuffix(test.path, ".go")+".dir", test.kind == "rundir", rewrites)
	}
	o.said = varying.ReplaceAllString(strings.ReplaceAll(o.said, dir, "DIR"), "N")
	return o
}

// varying matches output that differs between runs.
var varying = regexp.MustCompile(`0x[0-9a-f]+|\d{4}/\d\d/\d\d \d\d:\d\d:\d\d|goroutine [0-9]+|\d+(\.\d+)?[mµn]?s\b|gp=\S+ m=\S+|/tmp/[^ :]+`)

// single compiles one file, and links and runs the program.
func (d *distribution) single(t *testing.T, dir string, test distributed, runs, rewrites bool) outcome {
	name := "p"
	if runs {
		name = "main"
	}
	object := filepath.Join(dir, "p.a")
	o := d.compile(t, rewrites, name, d.imports, object, append(slices.Clone(test.gcflags), test.path)...)
	if o.code != 0 || !runs {
		return o
	}
	ran := d.link(t, dir, object, d.imports, filepath.Dir(test.path), test.args)
	ran.notes = o.notes
	return ran
}

// compile runs the compiler with its last arguments: flags and files.
func (d *distribution) compile(t *testing.T, rewrites bool, pkg, imports, object string, rest ...string) outcome {
	var front, key []string
	if rewrites {
		front, key = []string{d.own, "toolexec", "-others", "-x", "--"}, []string{keyFlag + "x"}
	}
	words := slices.Concat(front, []string{filepath.Join(d.tool, "compile")}, key,
		[]string{"-dwarf=false", "-p=" + pkg, "-importcfg=" + imports, "-o", object}, rest)
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

// run runs a command for five minutes at most: the compiler takes more than one for the largest test
// while other tests run.
func (d *distribution) run(t *testing.T, dir string, env []string, words ...string) (o outcome) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
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
