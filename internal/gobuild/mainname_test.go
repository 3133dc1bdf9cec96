package gobuild

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// TestLimitsOfMain checks that a limit of a function of the main package needs the package's import
// path, in the sources and in documents, and that other names may begin with main.
func TestLimitsOfMain(t *testing.T) {
	m := newModule(t, gomod+`
-- cocoon/cocoon/cocoon.go --
package cocoon

type TimeLimit struct{ Func string }
-- main.go --
package main

import "github.com/cocoon-go/cocoon/cocoon"

type page struct{}

func (*page) show() {}

func render() {}

var limit = cocoon.TimeLimit{Func: "LIMITED"}

func main() { new(page).show(); render() }
-- document/main.go --
package main

func render() {}

func main() { render() }
`)
	text := m.contents(t)[m.path("main.go")]
	for limited, want := range map[string]string{
		"main.render":                   "a policy limits main.render; want the import path of the main package, as in example.com/app.render",
		"main.(*page).show":             "as in example.com/app.(*page).show",
		"example.com/app.render":        "",
		"example.com/app.(*page).show":  "",
		"main.stage":                    "",
		"main":                          "",
		"example.com/other/main.render": "",
	} {
		if longtest.Off() && want == "" && limited != "main.stage" {
			continue // it builds a program
		}
		m.write(t, "main.go", strings.Replace(text, "LIMITED", limited, 1))
		args := []string{"build", "-o", os.DevNull, "."}
		if longtest.Off() {
			args = slices.Insert(args, 1, "-n") // the go command compiles nothing
		}
		out, code, err := m.cocoon(t, args...)
		said := out
		if err != nil {
			said += err.Error()
		}
		if (code == 0 && err == nil) != (want == "") || !strings.Contains(said, want) {
			t.Errorf("%s: exit code %d, %v\n%s\nwant %q", limited, code, err, out, want)
		}
	}
	c, err := command("build", "-C", string(m), "-o", os.DevNull, "./document")
	if err != nil {
		t.Fatal(err)
	}
	c.Policies = []string{"policies.yaml"}
	c.Limited = func(string) ([]string, error) { return []string{"main.render"}, nil }
	const want = "as in example.com/app/document.render"
	if _, err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("limited in a document: %v; want %q", err, want)
	}
}
