package gobuild

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// compiled matches a compiler command that really runs, as -x shows it, up to the name of the
// package.
var compiled = regexp.MustCompile(`toolexec .*compile.* -p ([^ ]+) `)

// compiledIn returns the compiled packages, sorted, because the go command compiles independent
// packages concurrently.
func compiledIn(t *testing.T, m module, args ...string) (packages []string) {
	t.Helper()
	out, code, err := m.cocoon(t, args...)
	if code != 0 || err != nil {
		t.Fatalf("cocoon %s: exit code %d, %v\n%s", args, code, err, out)
	}
	for _, match := range compiled.FindAllStringSubmatch(out, -1) {
		packages = append(packages, match[1])
	}
	slices.Sort(packages)
	return packages
}

// TestCacheIsTheGoCommands checks that rewritten packages are compiled once for each choice, and
// that no other package is compiled again.
func TestCacheIsTheGoCommands(t *testing.T) {
	longtest.Skip(t, "it builds five times")
	m := newModule(t, gomod+"-- internal/dep/dep.go --\n"+depgo+strings.Replace(use, "example.com/dep", "example.com/app/internal/dep", 1))
	plain := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, ".")
	plain.Dir = string(m)
	if out, err := plain.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, step := range []struct {
		args, want string
	}{
		{"build -x -o x.out .", "example.com/app/internal/dep github.com/cocoon-go/cocoon/safepoint main"},
		{"build -x -o x.out .", ""},
		{"build -x -o y.out -cocoon.pkgs=./internal/dep .", "example.com/app/internal/dep main"},
		{"build -x -o x.out .", ""},
	} {
		if got := strings.Join(compiledIn(t, m, strings.Fields(step.args)...), " "); got != step.want {
			t.Errorf("cocoon %s compiled %q; want %q", step.args, got, step.want)
		}
	}
}

// TestConcurrentBuilds checks that concurrent builds with an empty cache for the package make the
// same program.
func TestConcurrentBuilds(t *testing.T) {
	longtest.Skip(t, "it builds three programs at once")
	m := newModule(t, gomod+"-- internal/dep/dep.go --\n"+depgo+strings.Replace(use, "example.com/dep", "example.com/app/internal/dep", 1))
	var group sync.WaitGroup
	names := []string{"a.out", "b.out", "c.out"}
	for _, name := range names {
		group.Go(func() {
			c, err := command("build", "-C", string(m), "-o", m.path(name), ".")
			if err != nil {
				t.Error(err)
				return
			}
			var out bytes.Buffer
			c.Stdout, c.Stderr = &out, &out
			if code, err := c.Run(t.Context()); code != 0 || err != nil {
				t.Errorf("exit code %d, %v\n%s", code, err, out.Bytes())
			}
		})
	}
	group.Wait()
	all := m.contents(t)
	for _, name := range names[1:] {
		if all[m.path(name)] == "" || all[m.path(name)] != all[m.path(names[0])] {
			t.Errorf("%s is another program than %s", name, names[0])
		}
	}
}

// TestWorkKeepsTheRewrittenFiles checks that -work prints the folder, which contains the rewritten
// files.
func TestWorkKeepsTheRewrittenFiles(t *testing.T) {
	m := newModule(t, gomod+"-- a.go --\npackage a\n\nfunc a(more func() bool) {\n\tfor more() {\n\t}\n}\n")
	m.unique(t, "a")
	temp := t.TempDir()
	t.Setenv("GOTMPDIR", temp)
	out, code, err := m.cocoon(t, "build", "-work", "-o", os.DevNull, ".")
	if code != 0 || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, out)
	}
	_, folder, ok := strings.Cut(out, "WORK=")
	kept, _ := filepath.Glob(filepath.Join(strings.TrimSpace(folder), "b001", "cocoon", "a.go"))
	if !ok || len(kept) != 1 {
		t.Errorf("-work printed %q, where cocoon/a.go is not", out)
	}
}

// TestWithoutSafepoint checks that a program without package safepoint behaves the same, apart from
// the time of the polls.
func TestWithoutSafepoint(t *testing.T) {
	m := newModule(t, "-- go.mod --\nmodule example.com/app\n\ngo 1.25\n-- main.go --\npackage main\n\nfunc main() {\n\tn := 3\n\tmore := func() bool { n--; return n > 0 }\n\tfor more() {\n\t\tprintln(n)\n\t}\n}\n")
	if out, code, err := m.cocoon(t, "run", "."); out != "2\n1\n" || code != 0 || err != nil {
		t.Errorf("it printed %q, exit code %d, %v; want 2 and 1", out, code, err)
	}
}

// TestCrossCompiling checks that programs for other systems are rewritten in the same way.
func TestCrossCompiling(t *testing.T) {
	longtest.Skip(t, "it builds the standard library for three systems")
	m := newModule(t, gomod+"-- internal/dep/dep.go --\n"+depgo+strings.Replace(use, "example.com/dep", "example.com/app/internal/dep", 1))
	for _, c := range []struct{ system, processor, magic string }{
		{"windows", "arm64", "MZ"},
		{"linux", "386", "\x7fELF"},
		{"js", "wasm", "\x00asm"},
	} {
		t.Setenv("GOOS", c.system)
		t.Setenv("GOARCH", c.processor)
		got := strings.Join(compiledIn(t, m, "build", "-x", "-o", "x.out", "."), " ")
		if !strings.Contains(got, "example.com/app/internal/dep") {
			t.Errorf("%s/%s: compiled %q", c.system, c.processor, got)
		}
		if program := m.contents(t)[m.path("x.out")]; !strings.HasPrefix(program, c.magic) {
			t.Errorf("%s/%s: the program begins with %.4q; want %q", c.system, c.processor, program, c.magic)
		}
	}
}
