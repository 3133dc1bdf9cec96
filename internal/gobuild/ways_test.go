package gobuild

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// Some ways to build compile the standard library again, which takes minutes the first time.
var long = flag.Bool("ways", false, "build also plugins, C libraries, under sanitizers, and for other systems: make ways")

// ways is a module with a polling package, spin, and the programs built from it in different ways.
const ways = gomod + `
-- spin/spin.go --
package spin

func Sum(n int, more func() bool) (s int) {
	for i := 0; i < n; i++ {
		s += i
	}
	for more() {
		s++
	}
	return s
}
-- spin/spin_test.go --
package spin

import "testing"

func never() bool { return false }

func TestSum(t *testing.T) {
	if s := Sum(5, never); s != 10 {
		t.Fatal(s)
	}
}

func FuzzSum(f *testing.F) {
	f.Add(uint16(3))
	f.Fuzz(func(t *testing.T, n uint16) {
		if Sum(int(n), never) > 1000000 {
			t.Fatal("it is found")
		}
	})
}
-- program/main.go --
package main

import "example.com/app/spin"

func main() { watch(func() { println(spin.Sum(5000, times(9))) }) }
-- host/main.go --
package main

import (
	"os"
	"plugin"

	_ "example.com/app/spin"
)

func main() {
	p, err := plugin.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	f, err := p.Lookup("Run")
	if err != nil {
		panic(err)
	}
	watch(func() { println(f.(func(func() bool) int)(times(9))) })
}
-- guest/guest.go --
package main

import "example.com/app/spin"

func Run(more func() bool) int {
	for n := 3; n > 0; {
		n = spin.Sum(0, func() bool { return false })
	}
	return spin.Sum(5000, more)
}
-- lib/main.go --
package main

import "C"
import "example.com/app/spin"

//export Run
func Run() (n C.long) {
	watch(func() { n = C.long(spin.Sum(5000, times(9))) })
	return n
}

func main() {}
-- use.c.txt --
#include <stdio.h>
long Run(void);
int main(void) { fprintf(stderr, "%ld\n", Run()); return 0; }
`

// spinPolls are the polls in package spin.
var spinPolls = []string{"poll example.com/app/spin.Sum at spin.go:4\n", "poll example.com/app/spin.Sum at spin.go:7\n"}

// build builds a package of the module, and returns the file.
func (m module) build(t *testing.T, name string, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	out, code, err := m.cocoon(t, append([]string{"build", "-o", file}, args...)...)
	if code != 0 || err != nil {
		t.Fatalf("cocoon build %s: exit code %d, %v\n%s", args, code, err, out)
	}
	return file
}

// polls runs a program, which must print 12497509 and the polls of package spin.
func polls(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, args, err, out)
	}
	for _, want := range append([]string{"12497509\n"}, spinPolls...) {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s printed no %q:\n%s", name, want, out)
		}
	}
	return string(out)
}

// needsC skips the test if there is no C compiler.
func needsC(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	t.Setenv("CGO_ENABLED", "1")
}

func TestPositionIndependent(t *testing.T) {
	longtest.Skip(t, "it builds in a way of its own")
	m := newModule(t, ways)
	polls(t, m.build(t, "program", "-buildmode=pie", "./program"))
}

// TestOverlay replaces two files by files with the same name.
func TestOverlay(t *testing.T) {
	longtest.Skip(t, "it builds in a way of its own")
	m := newModule(t, ways)
	sum := string(read(t, m.path("spin/spin.go")))
	m.write(t, "spin/more.go", "package spin\n")
	m.write(t, "_a/file.go", strings.Replace(sum, "more() {", "another(more) {", 1))
	m.write(t, "_b/file.go", "package spin\n\nfunc another(more func() bool) bool {\n\tfor range times {\n\t\treturn more()\n\t}\n\treturn false\n}\n\nvar times = make([]int, 1)\n")
	m.write(t, "overlay.json", `{"Replace": {"spin/spin.go": "_a/file.go", "spin/more.go": "_b/file.go"}}`)
	polls(t, m.build(t, "program", "-overlay=overlay.json", "./program"))
}

// TestVendored builds with vendored packages, in a module and in workspaces.
func TestVendored(t *testing.T) {
	longtest.Skip(t, "it builds in a way of its own")
	for _, c := range []struct{ vendor, work, env string }{
		{"mod", "", "GOFLAGS=-mod=vendor"},
		{"work", "go.work", "GOFLAGS=-mod=vendor"},
		{"work", "other/go.work", "GOWORK=other/go.work"},
	} {
		t.Run(c.env+" "+c.work, func(t *testing.T) {
			m := newModule(t, ways)
			if c.work != "" {
				m.write(t, c.work, "go 1.25\n\nuse "+strings.TrimSuffix(strings.Repeat("../", strings.Count(c.work, "/"))+".", "/")+"\n")
			}
			name, value, _ := strings.Cut(c.env, "=")
			if name == "GOWORK" {
				value = m.path(value)
			}
			t.Setenv(name, value)
			vendor := exec.CommandContext(t.Context(), "go", c.vendor, "vendor")
			vendor.Dir, vendor.Env = string(m), append(os.Environ(), "GOFLAGS=-mod=mod")
			if out, err := vendor.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			m.write(t, "cocoon/safepoint/safepoint.go", "package safepoint\n\nfunc notVendored() int {}\n")
			polls(t, m.build(t, "program", "./program"))
		})
	}
}

// TestCoverage compares the coverage profiles of go test and cocoon test.
func TestCoverage(t *testing.T) {
	longtest.Skip(t, "it builds in a way of its own")
	m := newModule(t, ways)
	dir := t.TempDir()
	plain, rewritten := filepath.Join(dir, "plain"), filepath.Join(dir, "rewritten")
	args := []string{"-covermode=count", "-coverpkg=./spin", "./spin"}
	goTest := exec.CommandContext(t.Context(), "go", append([]string{"test", "-C", string(m), "-coverprofile", plain}, args...)...)
	if out, err := goTest.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, code, err := m.cocoon(t, append([]string{"test", "-coverprofile", rewritten}, args...)...); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, out)
	}
	if got, want := read(t, rewritten), read(t, plain); !bytes.Equal(got, want) {
		t.Errorf("with cocoon %s\nwith go %s", got, want)
	}
}

// TestWays builds in the slow ways: each compiles the standard library again.
func TestWays(t *testing.T) {
	if !*long {
		t.Skip("make ways builds these")
	}
	m := newModule(t, ways)
	t.Run("plugin", func(t *testing.T) {
		needsC(t)
		out := polls(t, m.build(t, "host", "./host"), m.build(t, "guest.so", "-buildmode=plugin", "./guest"))
		if !strings.Contains(out, "poll example.com/app/guest.Run at guest.go:6\n") {
			t.Errorf("the plugin does not poll:\n%s", out)
		}
	})
	for _, mode := range []string{"c-shared", "c-archive"} {
		t.Run(mode, func(t *testing.T) {
			needsC(t)
			lib := m.build(t, "lib.so", "-buildmode="+mode, "./lib")
			program := filepath.Join(t.TempDir(), "program")
			gcc := exec.CommandContext(t.Context(), "gcc", "-o", program, "-x", "c", m.path("use.c.txt"), "-x", "none", lib, "-lpthread")
			if out, err := gcc.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			polls(t, program)
		})
	}
	for _, flag := range []string{"-race", "-asan", "-cover", "-covermode=atomic", "-trimpath", "-pgo=off", "-ldflags=-s -w"} {
		t.Run(flag, func(t *testing.T) {
			if flag == "-race" || flag == "-asan" {
				needsC(t)
			}
			t.Setenv("GOCOVERDIR", t.TempDir())
			polls(t, m.build(t, "program", flag, "./program"))
		})
	}
	t.Run("fuzz", func(t *testing.T) {
		out, code, err := m.cocoon(t, "test", "-run=^$", "-fuzz=FuzzSum", "-fuzztime=300x", "./spin")
		if code != 0 || err != nil || !strings.Contains(out, "PASS") || strings.Contains(out, "not instrumented") {
			t.Errorf("exit code %d, %v\n%s", code, err, out)
		}
	})
	for _, system := range []string{"linux/arm64", "darwin/arm64", "windows/amd64", "linux/386", "js/wasm"} {
		t.Run(system, func(t *testing.T) { cross(t, m, system, "./program") })
	}
}

// cross builds for another system, where nothing can run, and looks for the function that a poll
// calls.
func cross(t *testing.T, m module, system, program string) {
	t.Setenv("CGO_ENABLED", "0")
	os, arch, _ := strings.Cut(system, "/")
	t.Setenv("GOOS", os)
	t.Setenv("GOARCH", arch)
	text := read(t, m.build(t, "program", program))
	if name := "example.com/app/spin.cocoon_poll"; !bytes.Contains(text, []byte(name)) {
		t.Errorf("for %s, no function %s", system, name)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
