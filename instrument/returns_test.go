package instrument

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const returning = `package p

var f func() int

type pool struct{ n int }

func (p *pool) put(n int) {
	for p.n += n; f() > 0; {
	}
}

func (p *pool) use(n int) int { defer p.put(n); return f() }

func (p *pool) end(n int) { defer p.put(n); f() }

func (p *pool) long(n int) (int, string) {
	if n > 3 {
		defer p.put(n)
	}
	defer func() { p.put(2) }()
	func() { defer p.put(1); f() }()
	if n == 2 {
		return f(), "a"
	}
	for range n {
		defer p.put(7)
	}
	return p.use(n), "b"
}
`

// TestLinesOfReturnsCostNothing checks that new line numbers of returns and braces do not change
// the machine code.
func TestLinesOfReturnsCostNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.go")
	write := func(path string, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path, []byte(returning))
	res, err := Rewrite(Package{Path: "p", Files: []string{path}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	directive := regexp.MustCompile(`/\*line :\d+:\d+\*/`)
	if n := len(directive.FindAll(res.Files[path], -1)); n < 8 {
		t.Errorf("%d directives in\n%s", n, res.Files[path])
	}
	compiled := func() string {
		write(path, res.Files[path])
		link := filepath.Join(dir, "zz_cocoon.go")
		write(link, res.Files[link])
		all := run(t, "go", "tool", "compile", "-S", "-p", "p", "-o", os.DevNull, path, link)
		code, _, _ := strings.Cut(all, "p.init") // which registers the lines
		return strings.Join(regexp.MustCompile(`(?m)^\t0x[0-9a-f]+( [0-9a-f]{2})+  .*$`).FindAllString(code, -1), "\n")
	}
	with := compiled()
	res.Files[path] = directive.ReplaceAll(res.Files[path], nil)
	if without := compiled(); with != without || len(with) < 1000 {
		sameLines(t, with, without)
	}
}

// TestWhereItReturns checks that a returning function makes its deferred calls on a separate line:
// the line of the return statement or of the brace, if no other code on it may poll.
func TestWhereItReturns(t *testing.T) {
	const declarations = "type M struct{}; func (M) put() { for { } }; func (M) short() {}; var m M; func g() int { for { } }; func use(func()) {}\n"
	for _, c := range []struct{ name, src, want string }{
		{"at the brace", "func a() {\n\tdefer m.put()\n}", "4 4"},
		{"of what does not poll", "func a() {\n\tdefer m.short()\n\tdefer close(make(chan int))\n}", ""},
		{"at a return", "func a() int {\n\tdefer m.put()\n\tif true {\n\t\treturn 1\n\t}\n\treturn 2\n}", "5 5 7 8"},
		{"of a literal", "func a() {\n\tdefer func() {\n\t\tm.put()\n\t}()\n}", "6 6"},
		{"in a literal", "func a() {\n\tuse(func() {\n\t\tdefer m.put()\n\t})\n}", "5 5"},
		{"return of a call", "func a() int {\n\tdefer m.put()\n\n\treturn g()\n}", "6 6"},
		{"brace before a call", "func a() {\n\tfunc() {\n\t\tdefer m.put()\n\t}()\n}", "4 4"},
		{"one line", "func a() { defer m.put(); g() }", "3 3"},
		{"one line of many", "func a() { g() }\nfunc b() { defer m.put(); g() }\nfunc c() { g() }", "5 5"},
		{"left iterator", "func a(yield func(int) bool) {\n\tif !yield(1) {\n\t\tg()\n\t\treturn\n\t}\n}", "4 5"},
		{"left iterator, one line", "func a(yield func(int) bool) {\n\tif !yield(1) { g(); return }\n}", ""},
		{"out of an iterator's loop", "func a(all func(func(int) bool)) int {\n\tdefer m.put()\n\tfor i := range all {\n\t\treturn i\n\t}\n\tpanic(1)\n}", "5 6 8 8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.go")
			if err := os.WriteFile(path, []byte("package p; "+declarations+c.src+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := decided(Package{Path: "p", Files: []string{path}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var ends []int
			if lines := r.toldLines()["a.go"]; lines != nil {
				ends = merged(lines.ends)
			}
			if got := strings.Trim(fmt.Sprint(ends), "[]"); got != c.want {
				t.Errorf("lines %q, want %q", got, c.want)
			}
		})
	}
}

// TestLinesAroundAReturn checks that a return statement with a new line number does not affect the
// lines around it.
func TestLinesAroundAReturn(t *testing.T) {
	got, _ := rewriteText(t, "package p\nvar f, h func() int\nfunc a() int {\n\tdefer h()\n\treturn f() // twice\n}\n", Options{})
	if want := "\tdefer h()\n\tPOLL/*line :6:1*/return/*line :5:8*/ f() // twice\n}\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q", got)
	}
}
