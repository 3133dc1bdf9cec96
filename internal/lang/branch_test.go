package lang

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// branchOf describes the branch of the verdict, or of the effect of a site, for a snapshot in which
// each word is the number.
func branchOf(t *testing.T, text string, number uint64, site int) string {
	t.Helper()
	p, err := Parse(text, Env{On: stubs.Enqueue, States: map[string]stubs.Type{"a": stubs.Int, "b": stubs.Int}})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	snapshot := make([]uint64, p.Words)
	for i := range snapshot {
		snapshot[i] = number
	}
	b, err := p.Decided(snapshot)
	if site >= 0 {
		b, err = p.Effected(snapshot, site)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := p.Excerpt(b.Verdict)
	for _, c := range b.When {
		s += fmt.Sprintf("; %s: %v", p.Excerpt(c.Node), c.Holds)
	}
	return s
}

func TestDecided(t *testing.T) {
	for _, test := range []struct {
		text   string
		number uint64
		want   string
	}{
		{`throw("always")`, 0, `throw("always")`},
		{`queue.length > 3 ? throw("full") : continue()`, 9, `throw("full"); queue.length > 3: true`},
		{`queue.length > 3 ? throw("full") : continue()`, 3, `continue(); queue.length > 3: false`},
		{`if queue.length > 9 { throw("a") } else if queue.length > 4 { throw("b") } else { continue() }`, 5,
			`throw("b"); queue.length > 9: false; queue.length > 4: true`},
		{`if queue.length > 4 { queue.safe > 4 ? throw("b", duration("1s")) : throw("c") } else { continue() }`, 5,
			`throw("b", duration("1s")); queue.length > 4: true; queue.safe > 4: true`},
		// neither the choices of effects nor choices inside of conditions are on the way
		{`(queue.length > 2 ? rank(1) : rank(2)); let n = queue.length > 3 ? 1 : 2; n == 1 ? throw("x") : continue()`, 5,
			`throw("x"); n == 1: true`},
		{"queue.length > 2\n  and queue.length < 8\n  ? throw(\"x\") : continue()", 5, `throw("x"); queue.length > 2 and queue.length < 8: true`},
	} {
		if got := branchOf(t, test.text, test.number, -1); got != test.want {
			t.Errorf("%s at %d: %s; want %s", test.text, test.number, got, test.want)
		}
	}
	p, err := Parse(`10 / queue.length > 3 ? throw("x") : continue()`, Env{On: stubs.Enqueue})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := p.Decided([]uint64{0}); !errors.Is(err, ir.ErrDivideByZero) || b.Verdict != nil {
		t.Errorf("a division by zero decides %v, %v", b, err)
	}
	if _, err := p.Decided(nil); err == nil {
		t.Error("a snapshot of another program is taken")
	}
	p, _ = Parse(`queue.length > 3 ? throw("`+strings.Repeat("x", 200)+`") : continue()`, Env{On: stubs.Enqueue})
	if text := p.Excerpt(p.Root); len(text) < 200 {
		t.Errorf("the text is %q", text)
	}
}

// TestEffected: an effect has the conditions on the way to it, and not those of its neighbours.
func TestEffected(t *testing.T) {
	const text = `(queue.length > 2 ? set("a", 1) : set("a", 2)); ` +
		`if queue.length > 3 { (queue.length > 4 ? set("b", 1) : rank(2)); set("b", 2); throw("x") } else { continue() }`
	for site, want := range []string{
		`set("a", 1); queue.length > 2: true`,
		``,
		`set("b", 1); queue.length > 3: true; queue.length > 4: true`,
		``,
		`set("b", 2); queue.length > 3: true`,
	} {
		if want == "" {
			continue // not carried out
		}
		if got := branchOf(t, text, 5, site); got != want {
			t.Errorf("site %d: %s; want %s", site, got, want)
		}
	}
}
