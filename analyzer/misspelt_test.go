package analyzer

import (
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// Names in a match that are misspellings of names elsewhere.
func TestMisspeltNames(t *testing.T) {
	const health = "GET /health"
	tasks := map[string]document.Class{health: {Kind: "safe"}, "report": {}, "GET /item": {}, "GET /items": {}, "GET /users/{id}/files/{path...}": {}}
	limit := func(name string) policy.Spec {
		s, err := policy.TimeLimit{Func: name, Limit: time.Second}.Spec()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	shed := func(m policy.Match) policy.Spec {
		return of(m, on(stubs.Enqueue, `queue.length > 99 ? throw("x") : continue()`))
	}
	except := func(name string) policy.Spec { return shed(policy.Match{Except: []string{name}}) }
	byName := on(stubs.Enqueue, `queue.length > 9 and arriving.name != "GET /status" ? throw("x") : continue()`)
	byHealth := on(stubs.Enqueue, `queue.length > 9 and arriving.name != "GET /heatlh" ? throw("x") : continue()`)
	for _, c := range []struct {
		name  string
		specs []policy.Spec
		want  string
	}{
		{"swapped", []policy.Spec{except("GET /heatlh")}, `match: nothing else names "GET /heatlh"; did you mean "GET /health"?`},
		{"missing", []policy.Spec{except("GET /helth")}, `did you mean "GET /health"?`},
		{"too many", []policy.Spec{shed(policy.Match{Tasks: []string{"repport"}})}, `did you mean "report"?`},
		{"as an expression has it", []policy.Spec{byName, except("GET /staus")}, `did you mean "GET /status"?`},
		{"of two the first", []policy.Spec{except("GET /satus"), except("GET /status")}, `nothing else names "GET /satus"; did you mean "GET /status"?`},
		{"twice", []policy.Spec{except("GET /heatlh"), except("GET /heatlh")}, ""},
		{"right", []policy.Spec{except(health)}, ""},
		{"several of them", []policy.Spec{shed(policy.Match{Tasks: []string{"reports"}})}, `match: nothing else names "reports"; did you mean "report"?`},
		{"several in an expression", []policy.Spec{of(policy.Match{}, on(stubs.Enqueue, `queue.length > 9 and arriving.name == "reports" ? throw("x") : continue()`))}, `: nothing else names "reports"; did you mean "report"?`},
		{"several of a limit", []policy.Spec{limit("reports")}, `nothing else names "reports"; did you mean "report"?`},
		{"several of both", []policy.Spec{shed(policy.Match{Tasks: []string{"GET /items"}})}, ""},
		{"several not declared", []policy.Spec{shed(policy.Match{Tasks: []string{"job"}}), shed(policy.Match{Tasks: []string{"jobs"}})}, ""},
		{"a method", []policy.Spec{except("get /heal")}, `match: "get /heal" has its method in small letters, and requests do not; write "GET /heal"`},
		{"a method as a word", []policy.Spec{except("Get /heal")}, `has its method in small letters, and requests do not; write "GET /heal"`},
		{"wildcards", []policy.Spec{except("GET /users/{user}/files/{rest...}")}, `did you mean "GET /users/{id}/files/{path...}"?`},
		{"a wildcard of one part", []policy.Spec{except("GET /users/{id}/files/{path}")}, ""},
		{"the end of a path", []policy.Spec{except("GET /users/{id}/files/{$}")}, ""},
		{"capitals", []policy.Spec{except("GET /Health")}, `did you mean "GET /health"?`},
		{"slash", []policy.Spec{except("GET /health/")}, `did you mean "GET /health"?`},
		{"method", []policy.Spec{except("/health")}, `did you mean "GET /health"?`},
		{"another method", []policy.Spec{except("PUT /health")}, ""},
		{"a call", []policy.Spec{limit("parse()")}, `"parse()" ends in (), and names of functions do not; write "parse"`},
		{"a method's name", []policy.Spec{limit("regexp.(*Regexp).Match")}, ""},
		{"no slash at the end", []policy.Spec{except("GET /healt")}, `did you mean "GET /health"?`},
		{"a letter more at the end", []policy.Spec{except("GET /healthz")}, `match: nothing else names "GET /healthz"; did you mean "GET /health"?`},
		{"at the end of a short word", []policy.Spec{except("GET /iten"), except("GET /ite")}, ""},
		{"at the end, not declared", []policy.Spec{except("GET /status"), except("GET /statusx")}, ""},
		{"in an expression", []policy.Spec{byHealth}, `: nothing else names "GET /heatlh"; did you mean "GET /health"?`},
		{"in a list of an expression", []policy.Spec{of(policy.Match{}, on(stubs.Enqueue, `arriving.name in ["GET /heatlh", "a", "b", "c", "d", "e", "f", "g", "h", "i"] and queue.length > 9 ? throw("x") : continue()`))}, ""},
		{"another version", []policy.Spec{except("GET /v1/items"), except("GET /v12/items"), except("GET /v21/items")}, ""},
		{"another letter", []policy.Spec{shed(policy.Match{Tasks: []string{"resort"}})}, ""},
	} {
		for range 2 { // with and without an entry for all other names
			got := Mismatched(members(t, declared, c.specs...), tasks)
			if (c.want == "") != (len(got) == 0) || len(got) > 1 || len(got) > 0 && !strings.Contains(": "+got[0].Err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", c.name, got, c.want)
			}
			tasks["*"] = document.Class{Kind: "preemptible"}
		}
		delete(tasks, "*")
	}
}

// Names of loops that are misspellings of the default loop, or of another loop in the documents.
func TestMisspeltLoops(t *testing.T) {
	shed := func(loops ...string) policy.Spec {
		return of(policy.Match{Loops: loops}, on(stubs.Enqueue, `queue.length > 99 ? throw("x") : continue()`))
	}
	byName := func(name string) policy.Spec {
		return on(stubs.Enqueue, `loop.name == "`+name+`" and queue.length > 99 ? throw("x") : continue()`)
	}
	for _, c := range []struct {
		specs []policy.Spec
		want  string
	}{
		{[]policy.Spec{shed("defualt")}, `match: nothing else names the loop "defualt"; did you mean "default"?`},
		{[]policy.Spec{shed("Default")}, `did you mean "default"?`},
		{[]policy.Spec{byName("defalt")}, `nothing else names the loop "defalt"; did you mean "default"?`},
		{[]policy.Spec{shed("reports"), byName("reports"), shed("report")}, `nothing else names the loop "report"; did you mean "reports"?`},
		{[]policy.Spec{shed("bulk"), shed("bullk")}, `nothing else names the loop "bulk"; did you mean "bullk"?`},
		{[]policy.Spec{shed("defualt"), shed("defualt")}, ""},
		{[]policy.Spec{shed("default", "bulk"), shed("main")}, ""},
	} {
		got := Mismatched(members(t, declared, c.specs...), nil)
		if (c.want == "") != (len(got) == 0) || len(got) > 1 || len(got) > 0 && !strings.Contains(got[0].Err.Error(), c.want) {
			t.Errorf("got %v, want %q", got, c.want)
		}
	}
}
