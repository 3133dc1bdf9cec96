package lang

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

func TestPatterns(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{"GET /admin/*", "GET /admin/|GET /admin/a|GET /admin/a/b|GET /admin/*", "GET /admin|get /admin/a|POST /admin/|x GET /admin/"},
		{"*", "|a|a b", ""},
		{"*/admin/*", "GET /admin/x|/admin/", "GET /admin"},
		{"a*b*c", "abc|a-b-c|abbcc|abcbc", "ab|acb|abcd|xabc"},
		{"aa*aa", "aaaa|aaxaa|aaaaa", "aaa|aa"},
		{"*ab*ab", "abab|xabyab|ababab", "ab|aba|xab"},
		{"**a", "a|ba", "b|"},
		{"regexp.(*Regexp).Match", "regexp.(*Regexp).Match", "regexp.(Regexp).Match|regexp.(xRegexp).Match"},
		{"regexp.(*Regexp).*", "regexp.(*Regexp).Match|regexp.(*Regexp).", "regexp.(xRegexp).Match"},
		{`GET /files/\*`, "GET /files/*", `GET /files/a|GET /files/\*`},
		{`GET /{id:\d+}`, `GET /{id:\d+}`, `GET /{id:d+}`},
		{"日本*", "日本|日本語", "日"},
		{"plain", "plain", "plain |Plain|"},
	} {
		p, err := ParsePattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range strings.Split(c.yes, "|") {
			if !p.Matches(name) {
				t.Errorf("%q does not match %q", c.pattern, name)
			}
		}
		for _, name := range strings.Split(c.no, "|") {
			if c.no != "" && p.Matches(name) {
				t.Errorf("%q matches %q", c.pattern, name)
			}
		}
	}
	if _, err := ParsePattern(strings.Repeat("*a", MaxStars+1)); err == nil || !strings.Contains(err.Error(), "has 17 stars, and 16 are allowed") {
		t.Errorf("error %v", err)
	}
	if (Pattern{}).Matches("") {
		t.Error("the zero Pattern matches")
	}
}

// matchesSlowly is what a pattern means, character by character.
func matchesSlowly(pattern, name string) bool {
	switch {
	case pattern == "":
		return name == ""
	case pattern[0] == '*':
		return matchesSlowly(pattern[1:], name) || name != "" && matchesSlowly(pattern, name[1:])
	}
	return name != "" && name[0] == pattern[0] && matchesSlowly(pattern[1:], name[1:])
}

// FuzzPattern compares with what a pattern means.
func FuzzPattern(f *testing.F) {
	f.Add("a*b*ab", "aababab")
	f.Add("*", "")
	f.Add(`\*(*`, "*(*")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		p, err := ParsePattern(pattern)
		if err != nil || len(name) > 40 || len(pattern) > 12 {
			return
		}
		if strings.Contains(pattern, `\`) || strings.Contains(pattern, "(*") {
			p.Matches(name)
			return
		}
		if got, want := p.Matches(name), matchesSlowly(pattern, name); got != want {
			t.Errorf("%q matches %q: %v", pattern, name, got)
		}
	})
}

// A client may choose the name: it takes no time to speak of, whatever the pattern.
func TestPatternsTakeLittleTime(t *testing.T) {
	p, err := ParsePattern(strings.Repeat("*a", MaxStars) + "b")
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("a", 1<<20)
	begin := time.Now()
	if p.Matches(name) {
		t.Error("it matches")
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("%v", took)
	}
}

// Of what Tasks and Except say, that counts which says the most of a name.
func TestSelector(t *testing.T) {
	list := func(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == '|' }) }
	for _, c := range []struct{ tasks, except, yes, no string }{
		{"GET /admin/*", "", "GET /admin/x", "GET /x|"},
		{"GET /admin/*|job", "", "GET /admin/x|job", "jobs"},
		{"GET /*|GET /admin/health", "GET /admin/*", "GET /x|GET /admin/health", "GET /admin/x|POST /"},
		{"", "GET /admin/*|job", "x|jobs", "job|GET /admin/x"},
		{"*", "job", "x", "job"},
		{"a*", "*b", "ac", "ab|b"},
		{`a\*`, "x", "a*", "ab|a|x"},
	} {
		s := NewSelector(list(c.tasks), list(c.except))
		for _, name := range list(c.yes) {
			if !s.Selects(name) {
				t.Errorf("%q except %q leaves %q out", c.tasks, c.except, name)
			}
		}
		for _, name := range list(c.no) {
			if s.Selects(name) {
				t.Errorf("%q except %q takes %q", c.tasks, c.except, name)
			}
		}
	}
	if s := NewSelector([]string{"a", "(*b)"}, nil); s != nil {
		t.Error("names are compared one by one")
	}
}

// What a pattern is compared with is read as an answer, and the name itself is not read for it.
func TestPatternInExpressions(t *testing.T) {
	p, err := Parse(`task.name in pattern("GET /admin/*") and task.labels.path not in pattern("/a*") or task.sections[pattern("json.*")] > duration("1s")
		? throw("x") : continue()`, Env{On: stubs.Tick})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	got := ""
	for _, r := range p.Reads {
		got += fmt.Sprintf("%s %q %q %v at %d; ", stubs.Catalogue[r.Stub].Path, r.Key, r.Pattern, r.Type, r.Offset)
	}
	want := `task.name "" "GET /admin/*" bool at 0; task.labels "path" "/a*" bool at 1; task.sections "" "json.*" duration at 2; `
	if got != want || p.Words != 3 {
		t.Errorf("%d words: %s\nwant %s", p.Words, got, want)
	}
	for _, c := range []struct {
		words []uint64
		want  stubs.Decision
	}{
		{[]uint64{0, 0, 0}, stubs.Continue}, {[]uint64{1, 0, 0}, stubs.Throw}, {[]uint64{1, 1, 0}, stubs.Continue},
		{[]uint64{0, 1, 2e9}, stubs.Throw},
	} {
		if out, _, err := ir.Interpret(p, c.words); err != nil || out.Decision != c.want {
			t.Errorf("%v: %v, %v", c.words, out.Decision, err)
		}
	}
	p, err = Parse(`task.name == "a" or task.name in pattern("b*") or task.name in pattern("b*") ? throw("x") : continue()`, Env{On: stubs.Tick})
	if err != nil || len(p.Reads) != 2 {
		t.Errorf("%+v, %v", p, err)
	}
}
