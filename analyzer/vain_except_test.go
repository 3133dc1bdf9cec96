package analyzer

import (
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
)

// Names in matches that are about nothing, each with one that is right.
func TestVainMatches(t *testing.T) {
	tasks := map[string]document.Class{"GET /a": {}, "GET /items/{id}": {}, "GET /events": {Kind: document.Waits}, "GET /live/*": {Kind: document.Waits}, "GET /live/x": {Kind: "both"}}
	throw, turn := `task.running > duration("1s") ? throw("x") : continue()`, `queue.safe > 0 and task.slice > duration("1ms") ? switch() : continue()`
	for _, c := range []struct {
		match policy.Match
		expr  string
		want  string
	}{
		{policy.Match{Tasks: []string{"/a*"}}, throw, `write "GET /a*"`},
		{policy.Match{Except: []string{"/items*"}}, throw, `write "GET /items*"`},
		{policy.Match{Tasks: []string{"* /a*"}}, throw, ""},
		{policy.Match{Tasks: []string{"/b*"}}, throw, ""},
		{policy.Match{Tasks: []string{"/a.Items/*"}}, throw, ""},
		{policy.Match{Tasks: []string{"/*"}}, throw, ""},
		{policy.Match{Tasks: []string{"GET /items/:id"}}, throw, `did you mean "GET /items/{id}"`},
		{policy.Match{Tasks: []string{"GET /items/<int:id>"}}, throw, `did you mean "GET /items/{id}"`},
		{policy.Match{Tasks: []string{"GET /orders/:id"}}, throw, ""},
		{policy.Match{Tasks: []string{"GET /a"}, Except: []string{"*"}}, throw, `"*" in except excepts nothing`},
		{policy.Match{Tasks: []string{"GET /a", "GET /items/*"}, Except: []string{"GET *"}}, throw, `"GET *" in except excepts nothing`},
		{policy.Match{Tasks: []string{"GET *"}, Except: []string{"GET /items/*"}}, throw, ""},
		{policy.Match{Tasks: []string{"GET /a", "GET *"}, Except: []string{"GET /it*"}}, throw, ""},
		{policy.Match{Tasks: []string{"GET /events"}}, turn, "are declared to wait"},
		{policy.Match{Tasks: []string{"GET /live/*"}}, turn, ""},
		{policy.Match{Tasks: []string{"GET /events"}}, throw, ""},
		{policy.Match{Tasks: []string{"GET /a"}}, turn, ""},
	} {
		texts := ""
		for _, r := range Mismatched(members(t, declared, policy.Spec{On: policy.Every(time.Millisecond), Match: c.match, Expr: c.expr}), tasks) {
			texts += r.Err.Error() + "\n"
		}
		if (c.want == "") != (texts == "") || !strings.Contains(texts, c.want) {
			t.Errorf("%v, %s: %s, want %q", c.match, c.expr, texts, c.want)
		}
	}
	background := policy.Background("GET /a", "bg/*")
	background.Match.Except = []string{"GET *"}
	if got := Mismatched(members(t, declared, background), tasks); len(got) > 0 {
		t.Error("a document's background tasks:", got[0].Err)
	}
}
