package gobuild

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/instrument"
	"github.com/cocoon-go/cocoon/internal/longtest"
)

// gaps returns the longest gap of each function, as "package.function at file:line: why".
func (m module) gaps(t *testing.T, args ...string) (lines []string, stderr string, err error) {
	t.Helper()
	c, err := command(append([]string{"build", "-C", string(m)}, args...)...)
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	c.Stderr = &b
	packages, err := c.Gaps(t.Context())
	for _, p := range packages {
		for _, f := range p.Functions {
			g := f.Gaps[0]
			length := "bounded"
			if g.Length == instrument.Unbounded {
				length = "unbounded"
			}
			lines = append(lines, fmt.Sprintf("%s.%s at %s:%d %s: %s", p.Path, f.Func, filepath.Base(g.Pos.Filename), g.Pos.Line, length, g.Why))
		}
	}
	return lines, b.String(), err
}

const twoPackages = gomod + `
-- main.go --
package main

import (
	"os"

	"example.com/app/internal/dep"
)

func main() {
	dep.Spin(nil)
	os.Getpid()
}
-- internal/dep/dep.go --
` + depgo

func TestGaps(t *testing.T) {
	m := newModule(t, twoPackages)
	const (
		depUnknown = "example.com/app.main at main.go:10 unbounded: calls example.com/app/internal/dep.Spin, not instrumented: example.com/app/internal/dep is not among -cocoon.pkgs"
		osUnknown  = "example.com/app.main at main.go:11 unbounded: calls os.Getpid, not instrumented: os is not among -cocoon.pkgs"
		spin       = "example.com/app/internal/dep.Spin at dep.go:3 bounded: as far as line 4"
	)
	for _, c := range longtest.Cases([]struct{ args, want string }{
		{".", spin + "\n" + osUnknown},
		{"-cocoon.pkgs=. .", depUnknown},
		{"-cocoon.pkgs=all .", spin + "\n" + osUnknown},
		// A pattern of folders, which Rewrite does not get.
		{"-cocoon.pkgs=./... .", spin + "\n" + osUnknown},
		{"-cocoon.pkgs=./internal/... ./...", spin},
		{"-tags=none -race=false ./...", spin + "\n" + osUnknown},
	}, 1) {
		got, stderr, err := m.gaps(t, strings.Fields(c.args)...)
		if err != nil || strings.Join(got, "\n") != c.want {
			t.Errorf("gaps %s:\n%s\n%s%v\nwant\n%s", c.args, strings.Join(got, "\n"), stderr, err, c.want)
		}
	}
}

func TestGapsRefuses(t *testing.T) {
	m := newModule(t, twoPackages)
	m.write(t, "broken/broken.go", "package broken\n\nvar x int = true\n")
	for _, c := range longtest.Cases([]struct{ args, err, stderr string }{
		{"./broken", ErrGo.Error(), "broken.go:3:13"},
		{"-cocoon.pkgs=./nosuch .", "the pattern ./nosuch matches no package", ""},
		{"-none .", "there is no flag -none", ""},
		{"./nosuch", ErrGo.Error(), "nosuch"},
		{"-cocoon.pkgs=os .", "no package of the command line would be rewritten: example.com/app is not among -cocoon.pkgs", ""},
		{"-cocoon.pkgs=runtime .", "runtime never polls", ""},
		{"-none=3 .", "there is no flag -none", ""},
		{"sort", "sort is not among -cocoon.pkgs", ""},
		{"runtime", "runtime never polls", ""},
	}, 3) {
		_, stderr, err := m.gaps(t, strings.Fields(c.args)...)
		if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("gaps %s: %v\n%s\nwant %q and %q", c.args, err, stderr, c.err, c.stderr)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, _, err := m.gaps(t, "."); err == nil || errors.Is(err, ErrGo) || !strings.Contains(err.Error(), "no go command on PATH") {
		t.Errorf("without go: %v", err)
	}
}

func TestGapsOfCgo(t *testing.T) {
	longtest.Skip(t, "it builds with cgo")
	if out, err := exec.CommandContext(t.Context(), "go", "env", "CGO_ENABLED").Output(); err != nil || strings.TrimSpace(string(out)) != "1" {
		t.Skip("no cgo")
	}
	m := newModule(t, gomod+`
-- main.go --
package main

// static int twice(int n) { return 2 * n; }
import "C"

func main() {
	println(C.twice(21))
}
`)
	got, stderr, err := m.gaps(t, ".")
	if want := "example.com/app.main at main.go:7 unbounded: calls C.twice"; err != nil || strings.Join(got, "\n") != want {
		t.Errorf("%q, %v\n%s\nwant %q", got, err, stderr, want)
	}
}
