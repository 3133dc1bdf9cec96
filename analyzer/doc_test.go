package analyzer

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// documented is a line of docs/policy.md: a policy, the event on which it is evaluated, and what is
// said of it.
type documented struct {
	text, reason string
	on           stubs.Event
	warning      bool
}

// readErrors returns the lines of the blocks "errors" and "warnings", and all that the section
// quotes besides.
func readErrors(t *testing.T) (lines []documented, quoted []string) {
	t.Helper()
	text, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Errors\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := regexp.MustCompile("(?ms)^```(errors|warnings)(?: on ([\\w+]+))?\n(.*?)^```$")
	for _, b := range blocks.FindAllStringSubmatch(section, -1) {
		on := stubs.Tick
		if b[2] != "" {
			on = 0
			for name := range strings.SplitSeq(b[2], "+") {
				on |= stubs.EventNamed(name)
			}
		}
		for line := range strings.Lines(b[3]) {
			text, reason, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " // ")
			if !ok || on == 0 {
				t.Fatalf("%q on %q says no reason", line, b[2])
			}
			lines = append(lines, documented{text, reason, on, b[1] == "warnings"})
		}
	}
	prose := regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(section, "")
	for _, q := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(prose, -1) {
		quoted = append(quoted, strings.Join(strings.Fields(q[1]), " "))
	}
	return lines, quoted
}

// TestDocErrors holds docs/policy.md to what is said of each of its policies, and to being
// complete: each message in the sources of the parser and of the verifier is that of some line.
func TestDocErrors(t *testing.T) {
	lines, said := readErrors(t)
	if len(lines) < 80 {
		t.Fatalf("found %d lines", len(lines))
	}
	for _, d := range lines {
		env := lang.Env{On: d.on, Funcs: map[string]bool{"Alarm": true}, States: map[string]stubs.Type{
			"overloaded": stubs.Bool, "served": stubs.Int, "ratio": stubs.Float, "budget": stubs.Duration}}
		env.Declare("spent", stubs.Duration, lang.Table{Keyed: true, By: ir.KeyTypes{stubs.Name}})
		env.Declare("shards", stubs.Duration, lang.Table{Keyed: true, By: ir.KeyTypes{stubs.Name, stubs.Int}})
		env.Declare("bucket", stubs.Float, lang.Table{Burst: 5})
		got := reasons(d, env)
		i := slices.IndexFunc(got, func(reason string) bool { return strings.HasPrefix(reason, d.reason) })
		if i < 0 {
			t.Errorf("%s\n got %q\nwant %q", d.text, got, d.reason)
			continue
		}
		said = append(said, got[i])
	}
	for place, format := range messages(t, "../policy", ".") {
		pattern := regexp.MustCompile(`%[sqdvU]`).ReplaceAllString(regexp.QuoteMeta(format), `.+`)
		message := regexp.MustCompile("^" + strings.ReplaceAll(pattern, "%%", "%") + "$")
		if !slices.ContainsFunc(said, message.MatchString) {
			t.Errorf("%s: docs/policy.md does not tell of %q", place, format)
		}
	}
}

// reasons returns why the policy is refused, or what it is warned about.
func reasons(d documented, env lang.Env) (all []string) {
	p, err := lang.Parse(d.text, env)
	var v Verified
	if err == nil {
		v, err = Verify(p, Limits{Interval: time.Millisecond})
	}
	var e *ir.Error
	if errors.As(err, &e) && !d.warning {
		return []string{e.Reason}
	}
	if err == nil && d.warning {
		for _, w := range v.Warnings() {
			all = append(all, w.Reason)
		}
	}
	return all
}

// messages returns the format of every message about a policy's text, by its place. They are the
// arguments of a few functions; one that passes its own format on is left out.
func messages(t *testing.T, folders ...string) map[string]string {
	t.Helper()
	all, set := map[string]string{}, token.NewFileSet()
	argument := map[string]int{"refuse": 2, "warn": 2, "errorAt": 2, "Errorf": 2, "newError": 4, "remark": 2}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", folder, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				at := argument[called(call)]
				if at == 0 || len(call.Args) <= at {
					return true
				}
				format := call.Args[at]
				if inner, ok := format.(*ast.CallExpr); ok && called(inner) == "Sprintf" {
					format = inner.Args[0]
				}
				if lit, ok := format.(*ast.BasicLit); ok && lit.Value != `"%s"` {
					text, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					all[fmt.Sprint(set.Position(lit.Pos()))] = text
				}
				return true
			})
		}
	}
	if len(all) < 80 {
		t.Fatalf("found %d messages", len(all))
	}
	return all
}

// called returns the name of the function or method that is called.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok && x.Name == "fmt" && f.Sel.Name != "Sprintf" {
			return "" // of other errors
		}
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}
