package gobuild

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/instrument"
)

// TestWhatTheCompilerRefuses checks that if the compiler refuses a rewritten function, the function
// gets simpler polls, then none, and finally the package is compiled unchanged. Messages about the
// package itself are passed on.
func TestWhatTheCompilerRefuses(t *testing.T) {
	const source = "package a\n\nfunc counts(n int) (s int) {\n\tfor i := 0; i < n; i++ {\n\t\ts += i\n\t}\n\treturn s\n}\n\n" +
		"func other(more func() bool) {\n\tfor more() {\n\t}\n}\n"
	for _, c := range []struct {
		name, refused string // a part of the text that the compiler refuses
		line          int
		has, hasNot   []string
		code          int
	}{
		{"nothing", "none", 4, []string{"cocoon_n", "for more() {cocoon_poll"}, nil, 0},
		{"pieces", "cocoon_n ", 4, []string{"i++ {cocoon_poll", "for more() {cocoon_poll"}, []string{"cocoon_n "}, 0},
		{"polls of a loop", "cocoon_answer", 11, []string{"cocoon_n ", "for more() {\n"}, nil, 0},
		{"all of a function", "cocoon_", 4, []string{"i++ {\n", "for more() {cocoon_poll"}, nil, 0},
		{"the file that is added", "cocoon_hold", 0, nil, []string{"cocoon_"}, 0},
		{"the package itself", "package a", 1, nil, nil, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "a.go")
			if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TOOLEXEC_IMPORTPATH", "example.com/a")
			var last string
			fake := func(words []string) ([]byte, int, error) {
				last = ""
				for _, w := range words {
					if !strings.HasSuffix(w, ".go") {
						continue
					}
					text, err := os.ReadFile(w)
					if err != nil {
						return nil, 0, err
					}
					if last += string(text); refuses(strings.Split(string(text), "\n"), c.line, c.refused) {
						return fmt.Appendf(nil, "%s:%d:5: it does not compile\n", file, c.line), 2, nil
					}
				}
				return nil, 0, nil
			}
			line := compile{front: []string{"compile"}, files: []string{file}, output: filepath.Join(dir, "a.a")}
			chosen := choice{others: true}
			words, _, err := line.rewritten(chosen)
			if err != nil {
				t.Fatal(err)
			}
			said, code, err := line.build(words, chosen, fake)
			if err != nil || code != c.code || len(said) > 0 != (code > 0) {
				t.Fatalf("exit code %d, %v: %s", code, err, said)
			}
			for _, part := range c.has {
				if !strings.Contains(last, part) {
					t.Errorf("it lacks %q:\n%s", part, last)
				}
			}
			for _, part := range c.hasNot {
				if strings.Contains(last, part) {
					t.Errorf("it has %q:\n%s", part, last)
				}
			}
		})
	}
}

// refuses reports whether the line contains the part. Without a line number, it checks all lines.
func refuses(lines []string, line int, part string) bool {
	if line > 0 {
		return line <= len(lines) && strings.Contains(lines[line-1], part)
	}
	return slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, part) })
}

// TestWhatCannotBeRewritten checks that a failure of the rewriting does not end the build, unless a
// policy limits a function of the package, because the limit would be lost.
func TestWhatCannotBeRewritten(t *testing.T) {
	t.Cleanup(func() { rewrite = instrument.Rewrite })
	t.Setenv("TOOLEXEC_IMPORTPATH", "example.com/a")
	for _, fails := range []func(instrument.Package, instrument.Options) (*instrument.Result, error){
		func(instrument.Package, instrument.Options) (*instrument.Result, error) { panic("a mistake") },
		func(instrument.Package, instrument.Options) (*instrument.Result, error) {
			return nil, errors.New("a mistake")
		},
	} {
		rewrite = fails
		line := compile{front: []string{"compile"}, files: []string{"a.go"}}
		words, mistaken, err := line.rewritten(choice{others: true})
		if !slices.Equal(words, line.original()) || mistaken || err != nil {
			t.Errorf("%q, %v, %v; want %q", words, mistaken, err, line.original())
		}
		line.sections = []string{"example.com/a.F"}
		if _, _, err := line.rewritten(choice{others: true}); err == nil || !strings.Contains(err.Error(), "a policy limits example.com/a.F") {
			t.Errorf("with a section: %v", err)
		}
	}
}

// TestRefusedSection checks that a package is not compiled without its limit if the compiler
// refuses its section.
func TestRefusedSection(t *testing.T) {
	t.Setenv("TOOLEXEC_IMPORTPATH", "example.com/a")
	fake := func(words []string) ([]byte, int, error) {
		if slices.Contains(words, "a.go") {
			return nil, 0, nil
		}
		return []byte("no line of it compiles\n"), 2, nil
	}
	line := compile{front: []string{"compile"}, files: []string{"a.go"}, sections: []string{"example.com/a.F"}}
	_, _, err := line.build([]string{"compile", "rewritten.go"}, choice{}, fake)
	if err == nil || !strings.Contains(err.Error(), "a policy limits example.com/a.F") || !strings.Contains(err.Error(), "no line of it compiles") {
		t.Error(err)
	}
}
