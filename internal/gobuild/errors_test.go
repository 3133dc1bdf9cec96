package gobuild

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

const empty = gomod + "-- main.go --\npackage main\n\nfunc main() {}\n"

// TestCommandLinesThatMakeNoSense checks command lines that must not start a build.
func TestCommandLinesThatMakeNoSense(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"build", "-cocoon.pkgs"}, "-cocoon.pkgs has no value"},
		{[]string{"build", "-cocoon.pkgs=a,,b"}, `-cocoon.pkgs "a,,b" has an empty pattern`},
		{[]string{"run", "-cocoon.pkg", "x", "."}, "there is no flag -cocoon.pkg; want -cocoon.pkgs, -cocoon.keep or -cocoon.policies"},
		{[]string{"test", "./...", "--cocoon.cache=x"}, "there is no flag -cocoon.cache"},
		{[]string{"build", "-cocoon.keep"}, "-cocoon.keep has no value"},
		{[]string{"build", "-cocoon.keep=a.F,"}, "-cocoon.keep: the pattern is empty; want a package, as in"},
		{[]string{"build", "-cocoon.keep=..."}, `-cocoon.keep: "...": it matches all code`},
		{[]string{"build", "-cocoon.keep=a.F=never"}, `-cocoon.keep: "a.F=never": want PATTERN or PATTERN=no-suspend`},
		{[]string{"test", "-cocoon.none"}, "there is no flag -cocoon.none"},
		{[]string{"build", "-cocoon.policies="}, "-cocoon.policies has no value; want the file"},
		{[]string{"build", "-compiler=gccgo"}, "-compiler gccgo: polls are inserted only for the compiler of the Go distribution; want gc"},
	} {
		if _, err := Parse(c.args[0], c.args[1:]); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("cocoon %s: %v; want %q", c.args, err, c.want)
		}
	}
}

// TestRefusedBuilds checks builds that the go command alone would have done.
func TestRefusedBuilds(t *testing.T) {
	m := newModule(t, empty)
	for i, c := range []struct {
		args []string
		want string
	}{
		{[]string{"build", "-o", os.DevNull, "-cocoon.pkgs=example.com/none/...", "."}, "the pattern example.com/none/... matches no package of this build"},
		{[]string{"run", "-cocoon.pkgs=./none", "."}, "the pattern ./none matches no package of this build"},
		{[]string{"test", "-cocoon.pkgs", ".,runtime"}, "-cocoon.pkgs: runtime never polls: the runtime runs where"},
		{[]string{"build", "-cocoon.pkgs=github.com/cocoon-go/cocoon/cocoon"}, "never polls: it is Cocoon's own scheduler"},
		{[]string{"build", "-cocoon.keep=example.com/none.F", "."}, `-cocoon.keep: "example.com/none.F": this build has no such package; want one of those`},
		{[]string{"build", "-cocoon.keep=example.com/none/...", "."}, "this build has no such package"},
		{[]string{"build", "-cocoon.keep=main.Main", "."}, `-cocoon.keep: "main.Main": package example.com/app has no such function; want main.main`},
		{[]string{"build", "-cocoon.keep=example.com/app.(*T).*", "."}, `-cocoon.keep: "example.com/app.(*T).*": package example.com/app has no such function; want PATH.Func`},
		{[]string{"build", "-cocoon.policies=none.yaml", "."}, "-cocoon.policies: open none.yaml"},
		{[]string{"build", "-toolexec='open quote", "."}, "-toolexec 'open quote: there is no closing quote"},
		{[]string{"build", "-gcflags", "oops", "."}, "-gcflags oops: want FLAGS or PATTERN=FLAGS"},
	} {
		if longtest.Off() && i%3 > 0 {
			continue // most list the packages
		}
		out, _, err := m.cocoon(t, c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("cocoon %s: %v; want %q\n%s", c.args, err, c.want, out)
		}
	}
}

func TestNoGoCommand(t *testing.T) {
	m := newModule(t, empty)
	t.Setenv("PATH", t.TempDir())
	if _, _, err := m.cocoon(t, "build"); err == nil || !strings.Contains(err.Error(), "there is no go command on PATH; install Go") {
		t.Errorf("without a go command: %v", err)
	}
}

// TestMissingSection checks policies that limit a function that does not exist, or a name that need
// not be a function.
func TestMissingSection(t *testing.T) {
	longtest.Skip(t, "it builds nine programs")
	m := newModule(t, "-- go.mod --\nmodule app\n-- main.go --\npackage main\n\nfunc main() {}\n")
	for _, c := range []struct {
		section string
		code    int
	}{
		{"regex.match", 0}, {"app.match", 0}, {"not a function", 0}, {"app", 0}, {"app.main", 0},
		{"app.Slow", 1}, {"app.(*T).slow", 1}, {"app.T.Slow", 1}, {"other.Slow", 0},
	} {
		command, err := command("build", "-C", string(m), "-o", os.DevNull, ".")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		command.Stdout, command.Stderr, command.Policies = &out, &out, []string{"policies.yaml"}
		command.Limited = func(string) ([]string, error) { return []string{c.section}, nil }
		want := ""
		if c.code != 0 {
			want = "# app\ncocoon: a policy limits " + c.section + ", and package app has no such function"
		}
		if code, err := command.Run(t.Context()); code != c.code || err != nil || !strings.HasPrefix(out.String(), want) || want == "" && out.Len() > 0 {
			t.Errorf("%s: exit code %d, %v\n%swant %d and %q", c.section, code, err, out.String(), c.code, want)
		}
	}
}

// TestErrorsOfTheGoCommand compares the output and the exit code with the plain go command's.
func TestErrorsOfTheGoCommand(t *testing.T) {
	for _, c := range []struct {
		name, archive string
		args          []string
	}{
		{"syntax", gomod + "-- main.go --\npackage main\n\nfunc main() { for }\n\nfunc f( {}\n", []string{"build", "."}},
		{"types", gomod + "-- main.go --\npackage main\n\nfunc main() {\n\tfor {\n\t\tvar unused int\n\t\tnone()\n\t}\n}\n", []string{"build", "."}},
		{"types behind a poll", gomod + "-- main.go --\npackage main\n\nfunc main() { for { none() } }\n", []string{"build", "."}},
		{"syntax in a test", empty + "-- a_test.go --\npackage main\n\nfunc f( {}\n", []string{"test", "."}},
		{"no such package", empty, []string{"build", "./none"}},
		{"no such flag", empty, []string{"build", "-none", "."}},
		{"cgo", gomod + "-- main.go --\npackage main\n\nimport \"C\"\n\nfunc main() {\n\tC.none()\n}\n", []string{"build", "."}},
		{"no requirement", gomod + "-- main.go --\npackage main\n\nimport _ \"example.com/none\"\n\nfunc main() {}\n", []string{"build", "."}},
		{"exit code", gomod + "-- main.go --\npackage main\n\nimport \"os\"\n\nfunc main() {\n\tfor {\n\t\tos.Exit(3)\n\t}\n}\n", []string{"run", "."}},
		{"failing test", empty + "-- a_test.go --\npackage main\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {\n\tfor range 2 {\n\t\tt.Error(\"x\")\n\t}\n}\n", []string{"test", "-vet=off", "."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "types" {
				longtest.Skip(t, "it runs the go command twice")
			}
			m := newModule(t, c.archive)
			plain := exec.CommandContext(t.Context(), "go", c.args...)
			plain.Dir = string(m)
			want, _ := plain.CombinedOutput()
			out, code, err := m.cocoon(t, c.args...)
			if err != nil || code != plain.ProcessState.ExitCode() || withoutTimes(out) != withoutTimes(string(want)) {
				t.Errorf("exit code %d, %v\n%sgo has %d\n%s", code, err, out, plain.ProcessState.ExitCode(), want)
			}
		})
	}
}

// withoutTimes removes durations: "(0.00s)", and at the end of a line "\t0.003s".
func withoutTimes(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if i := strings.LastIndexAny(line, "\t("); i >= 0 && strings.HasSuffix(strings.TrimRight(line, ")\n"), "s") {
			line = line[:i] + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// TestReadOnlyCache checks that the error for a read-only cache is the go command's.
func TestReadOnlyCache(t *testing.T) {
	m := newModule(t, empty)
	cache := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(cache, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", cache)
	out, code, err := m.cocoon(t, "build", "-o", os.DevNull, ".")
	if code == 0 && err == nil || !strings.Contains(out, cache) {
		t.Errorf("exit code %d, %v\n%swant an error that names %s", code, err, out, cache)
	}
}
