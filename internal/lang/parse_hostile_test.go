package lang

import (
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/stubs"
)

type hostile struct{ name, text, want string }

// hostileTexts are what nobody writes by accident.
func hostileTexts() []hostile {
	wrap := func(n int, before, inner, after string) string {
		return strings.Repeat(before, n) + inner + strings.Repeat(after, n)
	}
	const deep = "nested more than 100 deep"
	return []hostile{
		{"empty", "", "the policy is empty"},
		{"blank", " \n\t ", "the policy is empty"},
		{"comment", "// continue()", "the policy is empty"},
		{"nul", "contin\x00ue()", "1:7: the policy holds the control character U+0000"},
		{"escape", "\x1b[2J", "control character U+001B"},
		{"utf-8", "task.name == \"\xff\"", "1:15: the policy is not valid UTF-8"},
		{"megabyte", strings.Repeat("x", 1<<20), "the policy has 1048576 bytes, and 65536 are allowed"},
		{"long word", strings.Repeat("x", 60000), "there is no xxx"},
		{"long string", `throw("` + strings.Repeat("x", 60000) + `")`, "the string has 60000 bytes"},
		{"tokens", strings.Repeat("1+", 20000) + "1", "more than 4096 words"},
		{"long sum", strings.Repeat("1+", 2000) + "1 > 1 ? switch() : continue()", ""},
		{"long or", strings.Repeat("task.cancelled or ", 1000) + "true ? switch() : continue()", ""},
		{"long list", `task.name in ["a"` + strings.Repeat(`,"a"`, 2000) + `] ? switch() : continue()`, ""},
		{"parentheses", wrap(1500, "(", "1", ")"), deep},
		{"depth 10000", wrap(10000, "(", "1", ")"), "more than 4096 words"},
		{"parentheses open", strings.Repeat("(", 1500), "is never closed"},
		{"closing", strings.Repeat(")", 1500), "was never opened"},
		{"not", strings.Repeat("not ", 4000) + "true ? switch() : continue()", deep},
		{"bang", strings.Repeat("!", 4000) + "true ? switch() : continue()", deep},
		{"minus", strings.Repeat("-", 4000) + "1 > 1 ? switch() : continue()", deep},
		{"times not", "true" + strings.Repeat(" * not true", 1000) + " ? switch() : continue()", deep},
		{"ternary", strings.Repeat("task.cancelled ? switch() : ", 500) + "continue()", deep},
		{"ternary inside", wrap(500, "task.cancelled ? ", "switch()", " : continue()"), deep},
		{"else if", strings.Repeat("if task.cancelled { switch() } else ", 300) + "{ continue() }", deep},
		{"let", strings.Repeat("let x = 1;", 500) + "continue()", deep},
		{"let inside", strings.Repeat("let x = ", 500) + "1; continue()", deep},
		{"lists", wrap(2000, "[", "1", "]"), deep},
		{"maps", wrap(1000, "{a:", "1", "}"), deep},
		{"calls", wrap(1000, "min(", "1", ")"), deep},
		{"index", wrap(1000, "a[", "1", "]"), deep},
		{"power", strings.Repeat("2 ** ", 2000) + "2", "there is no operator **"},
		{"members", "task" + strings.Repeat(".a", 2000) + " ? switch() : continue()", "there is no state stub task.a"},
		{"chained", wrap(60, "1 < (", "task.priority", " < 3 ? 1 : 2) < 9 ") + "? switch() : continue()", "the policy has more than 8192 operations"},
		{"effects", strings.Repeat("cancel();", 1300) + "continue()", "more than 4096 words"},
		{"nested quantifiers", wrap(50, "any(1..1000, ", "# == 1", ")") + "? switch() : continue()", ""},
	}
}

func TestParseHostile(t *testing.T) {
	for _, c := range hostileTexts() {
		begin := time.Now()
		p, err := Parse(c.text, testEnv)
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("%s took %v", c.name, took)
		}
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want == "":
			checkProgram(t, p)
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: error %.300v\nwant one with %q", c.name, err, c.want)
		default:
			checkError(t, err)
		}
	}
}

// Any two or three words and signs in a row are a policy or an error, and no panic.
func TestParseOfFewTokens(t *testing.T) {
	words := strings.Fields(`+ - * / % ! not and or in if else let { } ( ) [ ] , ; : ? . .. # = == < > ~ & | "a" 1 1% 2s x task task.name return throw set chance any`)
	try := func(tokens ...string) {
		text := strings.Join(tokens, " ")
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("%s: %v", text, r)
			}
		}()
		Parse(text, Env{On: stubs.Tick})
	}
	for _, a := range words {
		try(a)
		for _, b := range words {
			try(a, b)
			for _, c := range words[:longtest.Count(len(words), 6)] {
				try(a, b, c)
			}
		}
	}
}
