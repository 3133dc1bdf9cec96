package instrument

import (
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
