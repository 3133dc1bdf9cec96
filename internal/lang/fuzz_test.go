package lang

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

var testEnv = Env{
	On: stubs.Tick,
	States: map[string]stubs.Type{"overloaded": stubs.Bool, "count": stubs.Int, "ratio": stubs.Float,
		"budget": stubs.Duration, "size": stubs.Bytes, "mode": stubs.Name,
		"spent": stubs.Duration, "bucket": stubs.Float, "requests": stubs.Float, "pairs": stubs.Int},
	Tables: map[string]Table{"spent": {Keyed: true}, "bucket": {Burst: 5}, "requests": {Keyed: true, Burst: 5},
		"pairs": {Keyed: true, By: ir.KeyTypes{stubs.Name, stubs.Int}}},
	Funcs: map[string]bool{"Alarm": true},
}

// FuzzParse feeds any text to Parse: it must answer soon, with a program that is well formed and
// can be evaluated, or with an *ir.Error whose place lies in the text.
func FuzzParse(f *testing.F) {
	for _, c := range goodPolicies {
		f.Add(c)
	}
	for _, c := range goodFigures {
		f.Add(c.text)
	}
	for _, c := range badPolicies {
		f.Add(c.text)
	}
	for _, c := range hostileTexts() {
		if len(c.text) < 4096 { // the mutator is slow on long ones, which TestParseHostile tries as well
			f.Add(c.text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		begin := time.Now()
		p, err := Parse(text, testEnv)
		if took := time.Since(begin); took > 5*time.Second {
			t.Fatalf("%d bytes took %v", len(text), took)
		}
		if err != nil {
			checkError(t, err)
			return
		}
		checkProgram(t, p)
		_, _, err = ir.Interpret(p, make([]uint64, p.Words))
		var ee *ir.EvalError
		if err != nil && !errors.As(err, &ee) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

func checkError(t *testing.T, err error) {
	t.Helper()
	var e *ir.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T %v is no *Error", err, err)
	}
	if e.Pos < 0 || e.Pos > e.End || e.End > len(e.Text) || e.Line < 1 || e.Col < 1 || e.Reason == "" {
		t.Fatalf("%#v", e)
	}
	if strings.ContainsAny(err.Error(), "\n\r") {
		t.Fatalf("%q is not one line", err.Error())
	}
	if n := utf8.RuneCountInString(fmt.Sprintf("%+v", e)); n > 4096 {
		t.Fatalf("the story of %.100q has %d characters", e.Text, n)
	}
}

// checkProgram checks the promises of ir.go: a tree, typed, within the tables of its program.
func checkProgram(t *testing.T, p *ir.Program) {
	t.Helper()
	if p.Root.Type != stubs.Verdict {
		t.Fatalf("the root is a %v", p.Root.Type)
	}
	words := 0
	for _, r := range p.Reads {
		if r.Offset != words || r.Words < 1 {
			t.Fatalf("reads are not dense: %+v", p.Reads)
		}
		words += r.Words
	}
	if words != p.Words {
		t.Fatalf("%d words, want %d", p.Words, words)
	}
	seen := map[*ir.Node]bool{}
	var walk func(*ir.Node)
	walk = func(n *ir.Node) {
		if n == nil {
			return
		}
		if seen[n] {
			t.Fatalf("%q: a node of %d..%d is shared", p.Text, n.Pos, n.End)
		}
		seen[n] = true
		if n.Pos < 0 || n.Pos >= n.End || n.End > len(p.Text) {
			t.Fatalf("%q: op %d at %d..%d", p.Text, n.Op, n.Pos, n.End)
		}
		if !indexFits(p, n) {
			t.Fatalf("%q: op %d has index %d", p.Text, n.Op, n.Index)
		}
		walk(n.A)
		walk(n.B)
		walk(n.C)
	}
	walk(p.Root)
}

func indexFits(p *ir.Program, n *ir.Node) bool {
	switch n.Op {
	case ir.OpRead:
		return n.Index < p.Words && n.Type != stubs.NameList
	case ir.OpLocal, ir.OpLet, ir.OpAny, ir.OpAll, ir.OpNone, ir.OpCount:
		return n.Index < len(p.Locals)
	case ir.OpEffect:
		return n.Index < len(p.Sites) && (n.A == nil) == (p.Sites[n.Index].Type == stubs.Unit)
	case ir.OpVerdict:
		return stubs.Decision(n.Imm) != stubs.Throw || n.Index < len(p.Reasons)
	}
	return true
}
