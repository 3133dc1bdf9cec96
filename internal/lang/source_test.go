package lang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

func TestInvisibleCharactersInExpressions(t *testing.T) {
	for _, r := range "\u00ad\u200b\u200d\u202e\u2066\u2060\u2028\u0085\ufeff\u3164\ufe0f\U000e0041" {
		_, err := Parse("task.name == \"a"+string(r)+"b\" ? switch() : continue()", Env{On: stubs.Tick})
		if want := fmt.Sprintf("the policy holds the invisible character %U; remove it", r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%U: error %v, want %q", r, err, want)
		}
	}
}

func TestLeastInteger(t *testing.T) {
	for text, want := range map[string]string{
		"queue.length > -9223372036854775808":         "",
		"-0x8000_0000_0000_0000 < queue.length":       "",
		"queue.length in [-9223372036854775808, 1]":   "",
		"state.x == (-9223372036854775808)":           "",
		"queue.length > 9223372036854775808":          "the number 9223372036854775808 is too large",
		"queue.length > 5 -9223372036854775808":       "the number 9223372036854775808 is too large",
		"queue.length > - -9223372036854775808":       "overflows",
		"queue.length > -9223372036854775809":         "the number 9223372036854775809 is too large",
		"queue.length > -9223372036854775808 - 1":     "overflows",
		"float(-9223372036854775808) < loop.busy * 1": "is a plain number",
	} {
		p, err := Parse(text+" ? switch() : continue()", Env{On: stubs.Tick, States: map[string]stubs.Type{"x": stubs.Int}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", text, err, want)
			continue
		}
		if err != nil {
			continue
		}
		snapshot := make([]uint64, p.Words)
		if strings.Contains(text, "state.x") {
			snapshot[0] = 1 << 63
		} else {
			snapshot[0] = 1
		}
		if out, _, err := ir.Interpret(p, snapshot); err != nil || out.Decision != stubs.Switch {
			t.Errorf("%s: %v, %v", text, out, err)
		}
	}
}

func TestLongListOfLet(t *testing.T) {
	var b strings.Builder
	for i := range 99 {
		fmt.Fprintf(&b, "let a%d = queue.length + %d;\n", i, i)
	}
	_, err := Parse(b.String()+"a0 > 1 ? switch() : continue()", Env{On: stubs.Tick})
	const want = "the policy is nested more than 100 deep; all that follows a let or else is inside it, and 99 are open here; use fewer, or split the policy"
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
