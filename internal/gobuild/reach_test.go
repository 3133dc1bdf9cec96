package gobuild

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/instrument"
	"github.com/cocoon-go/cocoon/internal/longtest"
)

const reaching = gomod + `
-- cocoon/cocoon/cocoon.go --
package cocoon

func Run(name string, f func() error) error { return f() }
func Handler(next any) any                  { return next }
-- main.go --
package main

import (
	"example.com/app/dep"
	"github.com/cocoon-go/cocoon/cocoon"
)

func init() { dep.Once() }

func main() {
	setUp()
	cocoon.Run("job", func() error { return serve(dep.Text("x")) })
}

func setUp() { dep.Load() }

func serve(s interface{ Show() string }) error { s.Show(); return nil }
-- dep/dep.go --
package dep

type Text string

func (t Text) Show() string { return shown(string(t)) }

type other struct{}

func (*other) Close() { Load() }

func Load()            {}
func Once()            {}
func shown(s string) string { return s + s }
-- hosts/main.go --
package main

import (
	"net/http"

	"github.com/cocoon-go/cocoon/cocoon"
)

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/", answer)
	cocoon.Handler(mux)
}

func answer(w http.ResponseWriter, r *http.Request) { deeper() }
func deeper()                                       {}
-- once/main.go --
package main

import (
	"sync"

	"github.com/cocoon-go/cocoon/cocoon"
)

func main() { cocoon.Handler(sync.OnceFunc(answer)) }

func answer() { deeper() }
func deeper() {}
-- plain/main.go --
package main

func main() {}
`

// TestReached checks that tasks start at functions passed to Cocoon, or, if a handler is passed, at
// functions passed to uninstrumented packages, and without either at any function.
func TestReached(t *testing.T) {
	m := newModule(t, reaching)
	for _, c := range longtest.Cases([]struct{ args, want string }{
		{".", "dep.(*other).Close - dep.Load - dep.Once - dep.Text.Show 2 dep.shown 3 main - main.func1 0 serve 1 setUp - init initialises"},
		{"./once", "answer 0 deeper 1 main -"},
		{"./plain", "main 0"},
		{"./hosts", "answer 0 deeper 1 main -"}, // lists the packages of net/http
	}, 2) {
		command, err := command("build", "-C", string(m), c.args)
		if err != nil {
			t.Fatal(err)
		}
		packages, err := command.Gaps(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range packages {
			for _, f := range p.Functions {
				name, distance := f.Func, fmt.Sprint(f.Distance)
				if !p.Named {
					name = "dep." + name
				}
				if f.Distance == instrument.Unreached {
					distance = "-"
				}
				if f.Initialises {
					distance = "initialises"
				}
				got = append(got, name+" "+distance)
			}
		}
		want := strings.Fields(c.want)
		for part := range slices.Chunk(want, 2) {
			if line := strings.Join(part, " "); !slices.Contains(got, line) {
				t.Errorf("gaps %s has %q; want %q among it", c.args, got, line)
			}
		}
		if len(got) != len(want)/2 {
			t.Errorf("gaps %s has %d functions, %q; want %d", c.args, len(got), got, len(want)/2)
		}
	}
}
