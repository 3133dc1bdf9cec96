package gobuild

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

const (
	gomod = "-- go.mod --\nmodule example.com/app\n\ngo 1.25\n\n" +
		"require github.com/cocoon-go/cocoon v1.0.0\n\nreplace github.com/cocoon-go/cocoon => ./cocoon\n"
	// It polls in line 4.
	depgo = "package dep\n\nfunc Spin(more func() bool) {\n\tfor more() {\n\t}\n}\n"
	use   = `-- main.go --
package main

import "example.com/dep"

func main() { watch(func() { dep.Spin(times(9)) }) }
`
	depPolls = "poll example.com/dep.Spin at dep.go:4\n"
)

// programs are modules with the command lines that run them, and their output.
var programs = []struct {
	name, archive string
	args          []string
	needs         string // a program that must be installed
	env           string
	want          []string // parts of the output
	not           string   // must not be part of the output
}{
	{
		name: "main package",
		archive: gomod + `
-- main.go --
package main

func main() {
	watch(func() {
		for more := times(3); more(); {
		}
	})
}
`,
		args: []string{"run", "."},
		want: []string{"poll main.main.func1 at main.go:5\n"},
	}, {
		name: "files and arguments",
		archive: gomod + `
-- main.go --
package main

import "os"

func main() {
	watch(func() {
		for more := times(3); more(); {
		}
	})
	println(os.Args[1], os.Args[2])
}
`,
		args: []string{"run", "main.go", helper, "-cocoon.pkgs", "x"},
		want: []string{"poll main.main.func1 at main.go:7\n", "-cocoon.pkgs x\n"},
	}, {
		name: "module cache",
		archive: gomod + `
require gopkg.in/yaml.v3 v3.0.1
-- main.go --
package main

import "gopkg.in/yaml.v3"

func main() {
	watch(func() {
		var v any
		if err := yaml.Unmarshal([]byte("[1, 2, {a: b}]"), &v); err != nil {
			panic(err)
		}
	})
}
`,
		args: []string{"run", "."},
		want: []string{"poll gopkg.in/yaml%2ev3.", "at decode.go:", "at scannerc.go:"},
	}, {
		name: "vendored",
		archive: gomod + `
require example.com/dep v1.0.0
-- vendor/modules.txt --
# example.com/dep v1.0.0
## explicit; go 1.25
example.com/dep
# github.com/cocoon-go/cocoon v1.0.0 => ./cocoon
## explicit; go 1.25
github.com/cocoon-go/cocoon/safepoint
# github.com/cocoon-go/cocoon => ./cocoon
-- vendor/example.com/dep/dep.go --
` + depgo + use,
		args: []string{"run", "."},
		want: []string{depPolls},
	}, {
		name: "replaced by a local path",
		archive: gomod + `
require example.com/dep v1.0.0
replace example.com/dep => ./local/dep
-- local/dep/go.mod --
module example.com/dep
-- local/dep/dep.go --
` + depgo + use,
		args: []string{"run", "."},
		want: []string{depPolls},
	}, {
		name: "workspace",
		archive: `
-- go.work --
go 1.25
use ./app
use ./dep
use ./cocoon
-- app/go.mod --
module example.com/app
go 1.25
-- dep/go.mod --
module example.com/dep
go 1.25
-- dep/dep.go --
` + depgo + strings.Replace(use, "main.go", "app/main.go", 1),
		args: []string{"run", "./app"},
		want: []string{depPolls},
	}, {
		name:    "internal package, left out",
		archive: gomod + "-- internal/dep/dep.go --\n" + depgo + strings.Replace(use, "example.com/dep", "example.com/app/internal/dep", 1),
		args:    []string{"run", "-cocoon.pkgs", ".", "."},
		not:     "dep.Spin",
	}, {
		name:    "internal package, chosen by its folder",
		archive: gomod + "-- internal/dep/dep.go --\n" + depgo + strings.Replace(use, "example.com/dep", "example.com/app/internal/dep", 1),
		args:    []string{"run", "-cocoon.pkgs=./internal/...", "."},
		want:    []string{"poll example.com/app/internal/dep.Spin at dep.go:4\n"},
	}, {
		name: "standard library by name",
		archive: gomod + `
-- main.go --
package main

import (
	"go/scanner"
	"go/token"
)

func main() {
	watch(func() {
		var s scanner.Scanner
		set := token.NewFileSet()
		s.Init(set.AddFile("x", -1, 9), []byte("a /* */ b"), nil, scanner.ScanComments)
		for range 9 {
			s.Scan()
		}
	})
}
`,
		args: []string{"run", "-cocoon.pkgs=go/scanner", "."},
		want: []string{"poll go/scanner.(*Scanner).", "at scanner.go:"},
	}, {
		name: "build tags and systems",
		archive: gomod + `
-- on.go --
//go:build special

package main

const tag = "special"
-- off.go --
//go:build !special

package main

func doesNotCompile() { return 1 }
-- main.go --
package main

func main() {
	watch(func() {
		for more := times(3); more(); {
		}
	})
	println(tag)
}
`,
		args: []string{"run", "-tags", "special", "."},
		want: []string{"poll main.main.func1 at main.go:5\n", "special\n"},
	}, {
		name: "cgo",
		archive: gomod + `
-- main.go --
package main

// static int twice(int n) { return 2 * n; }
import "C"

func main() {
	watch(func() {
		for more := times(int(C.twice(2))); more(); {
		}
	})
}
`,
		args:  []string{"run", "."},
		needs: "gcc",
		env:   "CGO_ENABLED=1",
		want:  []string{"poll main.main.func1 at main.go:8\n"},
	}, {
		name: "assembly",
		archive: gomod + `
-- nine_amd64.s --
TEXT ·nine(SB), 4, $0-8
	MOVQ $9, ret+0(FP)
	RET
-- nine_arm64.s --
TEXT ·nine(SB), 4, $0-8
	MOVD $9, R0
	MOVD R0, ret+0(FP)
	RET
-- main.go --
package main

func nine() int

func main() {
	watch(func() {
		for more := times(nine()); more(); {
		}
	})
}
`,
		args: []string{"run", "."},
		want: []string{"poll main.main.func1 at main.go:7\n"},
	}, {
		name: "embedded files",
		archive: gomod + `
-- text.txt --
from a file
-- main.go --
package main

import _ "embed"

//go:embed text.txt
var text string

func main() {
	watch(func() {
		for more := times(3); more(); {
		}
	})
	println(text)
}
`,
		args: []string{"run", "."},
		want: []string{"poll main.main.func1 at main.go:10\n", "from a file\n"},
	}, {
		name: "generated code with line directives",
		archive: gomod + `
-- main.go --
package main

func main() {
	watch(func() {
//line grammar.y:70
		for more := times(3); more(); {
		}
	})
}
`,
		args: []string{"run", "."},
		want: []string{"at grammar.y:70\n"},
	}, {
		name:    "race detector",
		archive: gomod + "-- internal/dep/dep.go --\n" + depgo + strings.Replace(use, "example.com/dep", "example.com/app/internal/dep", 1),
		args:    []string{"run", "-race", "."},
		needs:   "gcc",
		env:     "CGO_ENABLED=1",
		want:    []string{"poll example.com/app/internal/dep.Spin at dep.go:4\n"},
	}, {
		name:    "trimmed paths, linker and compiler flags",
		archive: gomod + "-- internal/dep/dep.go --\n" + depgo + strings.Replace(strings.Replace(use, "example.com/dep", "example.com/app/internal/dep", 1), "func main() {", "var name string\n\nfunc main() { println(name);", 1),
		args:    []string{"run", "-trimpath", "-gcflags=all=-l", "-ldflags", "-X main.name=linked -s", "."},
		want:    []string{"poll example.com/app/internal/dep.Spin at dep.go:4\n", "linked\n"},
	}, {
		name: "tests and benchmarks",
		archive: gomod + `
-- dep.go --
` + depgo + `
-- dep_test.go --
package dep

import "testing"

func TestIn(t *testing.T) { n := 9; Spin(func() bool { n--; return n > 0 }) }

func BenchmarkIn(b *testing.B) { n := b.N; Spin(func() bool { n--; return n > 0 }) }
-- out_test.go --
package dep_test

import (
	"testing"

	"example.com/app"
)

func TestOut(t *testing.T) {
	for range 9 {
		dep.Spin(func() bool { return false })
	}
}

func TestNever(t *testing.T) { t.Fatal("it was not asked for") }
`,
		args: []string{"test", "-v", "-cover", "-run", "In|Out", ".", "-bench", "In", "-benchtime=10x"},
		want: []string{"--- PASS: TestIn", "--- PASS: TestOut", "BenchmarkIn", "coverage: 100.0%", "ok  \texample.com/app"},
	}, {
		name: "coverage of a program",
		archive: gomod + "-- internal/dep/dep.go --\n" + depgo +
			strings.Replace(use, "example.com/dep", "example.com/app/internal/dep", 1),
		args: []string{"run", "-cover", "."},
		want: []string{"poll example.com/app/internal/dep.Spin at dep.go:4\n", "GOCOVERDIR not set"},
	}, {
		name: "fuzz test",
		archive: gomod + `
-- dep.go --
` + depgo + `
-- dep_test.go --
package dep

import "testing"

func FuzzSpin(f *testing.F) {
	f.Add(uint8(3))
	f.Fuzz(func(t *testing.T, n uint8) { Spin(func() bool { n /= 2; return n > 0 }) })
}
`,
		args: []string{"test", "-fuzz=FuzzSpin", "-fuzztime=20x", "."},
		want: []string{"fuzz: elapsed:", "PASS"},
	},
}

func TestPrograms(t *testing.T) {
	brief := []string{"main package", "tests and benchmarks"}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			if !slices.Contains(brief, p.name) {
				longtest.Skip(t, "each program is built with other parts of the standard library")
			}
			if _, err := exec.LookPath(p.needs); p.needs != "" && err != nil {
				t.Skip(err)
			}
			m := newModule(t, p.archive)
			sums, err := os.ReadFile(filepath.Join("..", "..", "go.sum"))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(p.archive, "yaml.v3") {
				m.write(t, "go.sum", string(sums))
			}
			if name, value, ok := strings.Cut(p.env, "="); ok {
				t.Setenv(name, value)
			}
			out, code, err := m.cocoon(t, p.args...)
			if code != 0 || err != nil {
				t.Fatalf("cocoon %s: exit code %d, %v\n%s", p.args, code, err, out)
			}
			for _, want := range p.want {
				if !strings.Contains(out, want) {
					t.Errorf("cocoon %s printed no %q:\n%s", p.args, want, out)
				}
			}
			if p.not != "" && strings.Contains(out, p.not) {
				t.Errorf("cocoon %s printed %q:\n%s", p.args, p.not, out)
			}
		})
	}
}
