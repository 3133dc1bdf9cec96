package gobuild

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// limitsModule has a name for each way to write a limit. Names that begin with "no" are not limits,
// or not constant.
const limitsModule = gomod + `
require example.com/other v1.0.0
replace example.com/other => ./other
-- other/go.mod --
module example.com/other
-- other/other.go --
package other

import "github.com/cocoon-go/cocoon/cocoon"

const Name = "no-others"

var _ = cocoon.TimeLimit{Func: "no-of-another-module"}
-- names/names.go --
package names

const Shared = "c-shared" + suffix
-- names/suffix.go --
package names

const suffix = "-constant"
-- main.go --
package main

import (
	"time"

	c "github.com/cocoon-go/cocoon/cocoon"
	. "github.com/cocoon-go/cocoon/policy"
	"example.com/app/names"
	"example.com/other"
)

type alias = c.TimeLimit

type Limit struct{ Func string }

const top = "b-" + "top"

func main() {
	const local = "d-local"
	register(c.TimeLimit{Func: "a-literal", Limit: 100 * time.Millisecond})
	register(&c.TimeLimit{Func: top}, TimeLimit{Limit: 1, Func: names.Shared}, alias{Func: local})
	register([]c.TimeLimit{{Func: "e-element"}}, map[string]*TimeLimit{"x": {Func: "f-pointer"}})
	register(c.TimeLimit{"g-first", time.Second, 0, ""}, func() any { return c.TimeLimit{Func: "h-closure"} })
	var variable = "no-variable"
	register(c.TimeLimit{Func: variable}, c.TimeLimit{Func: other.Name}, c.TimeLimit{}, Limit{Func: "no-limit"})
	undefined(c.TimeLimit{Func: "i-errors"}) // the compiler's business
}
-- off.go --
//go:build never

package main

import "github.com/cocoon-go/cocoon/cocoon"

var _ = cocoon.TimeLimit{Func: "no-tag"}
-- broken/broken.go --
package broken

import "github.com/cocoon-go/cocoon/cocoon"

var _ = cocoon.TimeLimit{Func: "no-broken"}

func f( {
-- tested/tested.go --
package tested
-- tested/in_test.go --
package tested

import "github.com/cocoon-go/cocoon/cocoon"

var _ = cocoon.TimeLimit{Func: "t-in"}
-- tested/out_test.go --
package tested_test

import "github.com/cocoon-go/cocoon/cocoon"

var _ = cocoon.TimeLimit{Func: "t-out"}
-- doc/doc.go --
package doc

import _ "embed"

//go:embed policies.yaml other.yml text.txt
var text string
-- doc/policies.yaml --
doc-policies
-- doc/other.yml --
error
-- doc/text.txt --
doc-text
-- doc/unused.yaml --
doc-unused
`

func TestLimitsInSources(t *testing.T) {
	m := newModule(t, limitsModule)
	const inMain = "a-literal b-top c-shared-constant d-local e-element f-pointer g-first h-closure i-errors"
	for _, c := range longtest.Cases([]struct{ args, want string }{ // each lists the packages
		{"build -tags=never .", inMain + " no-tag"},
		{"build ./broken", "no-broken"},
		{"test ./tested", "t-in t-out"},
		{"build ./doc", "doc-policies"},
		{"build example.com/other", "no-of-another-module"}, // the command line names it
		{"run main.go", inMain},
		{"build .", inMain},
		{"build example.com/app", inMain},
		{"build ./names", ""},
		{"build ./tested", ""},
		{"build ./none", ""},
	}, 4) {
		fields := strings.Fields(c.args)
		command, err := command(append([]string{fields[0], "-C", string(m)}, fields[1:]...)...)
		if err != nil {
			t.Fatal(err)
		}
		command.Limited = func(file string) ([]string, error) {
			text := strings.TrimSpace(m.contents(t)[file])
			if text == "error" {
				return nil, errors.New("no document")
			}
			return []string{text}, nil
		}
		packages, err := command.list(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(command.limitedIn(packages), " "); got != c.want {
			t.Errorf("cocoon %s: found %q; want %q", c.args, got, c.want)
		}
	}
}

// TestLimitsBecomeSections checks that the limits found become sections in every verb, and that the
// key of the packages reflects them.
func TestLimitsBecomeSections(t *testing.T) {
	m := newModule(t, gomod+`
-- dep/dep.go --
package dep

type T struct{}

func (*T) Slow() error { return nil }
-- cocoon/cocoon/cocoon.go --
package cocoon

type TimeLimit struct{ Func string }
-- main.go --
package main

import (
	"example.com/app/dep"
	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/safepoint"
)

var limit = cocoon.TimeLimit{Func: "example.com/app/dep.(*T).Slow"}

func main() {
	safepoint.AttachSections(func(name string) func(*error) {
		println("section", name)
		return func(*error) {}
	})
	new(dep.T).Slow()
}
`)
	const want = "section example.com/app/dep.(*T).Slow\n"
	choices := []string{"./dep", "all", "std"}
	if longtest.Off() {
		choices = choices[:1] // the others build the standard library
	}
	for _, pkgs := range choices {
		if out, code, err := m.cocoon(t, "run", "-cocoon.pkgs="+pkgs, "."); out != want || code != 0 || err != nil {
			t.Errorf("-cocoon.pkgs=%s: it printed %q, exit code %d, %v; want %q", pkgs, out, code, err, want)
		}
	}
	text := m.contents(t)[m.path("main.go")]
	m.write(t, "main.go", strings.Replace(text, ".Slow\"", ".Slower\"", 1))
	out, code, err := m.cocoon(t, "build", "-o", filepath.Join(t.TempDir(), "x"), ".")
	if code != 1 || err != nil || !strings.Contains(out, "a policy limits example.com/app/dep.(*T).Slower, and package example.com/app/dep has no such function") {
		t.Errorf("a limit of nothing: exit code %d, %v\n%s", code, err, out)
	}
}

// TestListingIsShown checks that -x shows every command, including go list.
func TestListingIsShown(t *testing.T) {
	m := newModule(t, gomod+"-- a.go --\npackage a\n") // nothing is linked
	out, code, err := m.cocoon(t, "build", "-x", ".")
	lines := strings.Split(out, "\n")
	if code != 0 || err != nil || !strings.HasPrefix(lines[0], "go list -C ") ||
		!slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "go build -C ") }) {
		t.Errorf("exit code %d, %v\n%s", code, err, out)
	}
}
