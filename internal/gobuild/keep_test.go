package gobuild

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/keep"
	"github.com/cocoon-go/cocoon/internal/longtest"
)

const keeping = gomod + `
-- dep/dep.go --
package dep

type T struct{}

func (*T) Fill() {}

func Fill() {}
-- main.go --
package main

import (
	"example.com/app/dep"
	"github.com/cocoon-go/cocoon/safepoint"
)

func main() {
	dep.Fill()
	for _, rule := range safepoint.Kept() {
		println("kept", rule)
	}
}
`

// TestKeep checks that the program knows which functions its build keeps, together with any other
// flags, and that a build with other patterns has other rules.
func TestKeep(t *testing.T) {
	m := newModule(t, keeping)
	type build struct {
		args []string
		want string
	}
	for _, c := range longtest.Cases([]build{
		{[]string{"-cocoon.keep", "example.com/app/dep.Fill=no-suspend,example.com/app/dep.(*T).*", "-cocoon.keep=main.main", "."},
			"kept example.com/app/dep.(*T).*\nkept example.com/app/dep.Fill=no-suspend\nkept main.main\n"},
		{[]string{"."}, ""},
		{[]string{"-cocoon.keep=example.com/app/dep", "."}, "kept example.com/app/dep\n"},
		{[]string{"-cocoon.keep=example.com/app.main,.../dep", "-gcflags=example.com/app/...=-l", "-cocoon.pkgs=.", "."}, "kept .../dep\nkept example.com/app.main\n"},
	}, 1) {
		out, code, err := m.cocoon(t, append([]string{"run"}, c.args...)...)
		if out != c.want || code != 0 || err != nil {
			t.Errorf("cocoon run %s: exit code %d, %v\n%s", c.args, code, err, out)
		}
	}
}

// TestKeepOfDocuments checks that functions kept by a document must exist if their package is in
// the build.
func TestKeepOfDocuments(t *testing.T) {
	m := newModule(t, keeping)
	for pattern, want := range map[string]string{
		"example.com/app/dep.(*T).Fill": "",
		"example.com/other.Fill":        "",
		"example.com/app/dep.T.Fill":    `policies.yaml: "example.com/app/dep.T.Fill": package example.com/app/dep has no such function; want example.com/app/dep.(*T).Fill`,
	} {
		if longtest.Off() && want == "" {
			continue // it builds a program
		}
		c, err := command("build", "-C", string(m), "-o", os.DevNull, ".")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		c.Stdout, c.Stderr, c.Policies = &out, &out, []string{"policies.yaml"}
		c.Limited = func(string) ([]string, error) { return nil, nil }
		c.Kept = func(string) ([]keep.Rule, error) { return []keep.Rule{{Pattern: pattern}}, nil }
		_, err = c.Run(context.Background())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q\n%s", pattern, err, want, &out)
		}
	}
}

// TestKeepOfNothing checks that a pattern of -cocoon.keep which matches nothing in the build is
// refused, with what may be meant.
func TestKeepOfNothing(t *testing.T) {
	m := newModule(t, keeping)
	for i, c := range []struct{ args, want string }{
		{"build -cocoon.keep=main. .", `"main.": want a package, as in`},
		{"build -cocoon.keep=main.Main .", `"main.Main": package example.com/app has no such function; want main.main`},
		{"build -cocoon.keep=main.other .", `want PATH.Func, PATH.Type.Method`},
		{"build -cocoon.keep=dep .", `"dep": this build has no such package; want example.com/app/dep`},
		{"build -cocoon.keep=dep.Fill .", `want example.com/app/dep.Fill`},
		{"build -cocoon.keep=example.com/app/dep.t.* .", `want example.com/app/dep.(*T).Fill`},
		{"build -cocoon.keep=example.com/none .", `"example.com/none": this build has no such package; want one of those that go list -deps prints`},
		{"build -cocoon.keep=main ./dep", `"main": this build has no such package`},
		{"build -cocoon.keep=main.Fill ./dep", `"main.Fill": this build has no such package`},
		{"test -cocoon.keep=main.main .", `"main.main": this build has no such package; want example.com/app.main`},
		{"test -cocoon.keep=main .", `"main": this build has no such package; want example.com/app`},
	} {
		if longtest.Off() && i%3 > 0 {
			continue // each lists the packages
		}
		_, code, err := m.cocoon(t, strings.Fields(c.args)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("cocoon %s: exit code %d, %v; want %s", c.args, code, err, c.want)
		}
	}
}
