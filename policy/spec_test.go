package policy

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

func TestSpecValidate(t *testing.T) {
	good := Spec{Name: "a-b_c.d/e1", On: Every(time.Millisecond), Expr: "continue()",
		State: map[string]any{"a": true, "b": 1, "c": int64(1), "d": 1.5, "e": time.Second},
		Match: Match{Loops: []string{"main"}, Tasks: []string{"GET /"}, Kinds: []string{"atomic", "both"}}}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		edit func(*Spec)
		want string
	}{
		{"no name", func(s *Spec) { s.Name = "" }, "has no name"},
		{"space", func(s *Spec) { s.Name = "a b" }, `policy name "a b": a name has letters`},
		{"unicode", func(s *Spec) { s.Name = "é" }, "letters"},
		{"long", func(s *Spec) { s.Name = strings.Repeat("x", 129) }, "129 bytes, and 128"},
		{"never", func(s *Spec) { s.On = Trigger{} }, "never evaluated"},
		{"short", func(s *Spec) { s.On = Every(lang.MinInterval - 1) }, "interval 4.999µs is not between 5µs and 24h0m0s"},
		{"long interval", func(s *Spec) { s.On = Every(lang.MaxInterval + 1) }, "not between"},
		{"negative", func(s *Spec) { s.On = Every(-time.Second) }, "not between"},
		{"greatest", func(s *Spec) { s.On = Every(math.MaxInt64) }, "not between"},
		{"both, with tick", func(s *Spec) { s.On.Events = stubs.Enqueue | stubs.Tick }, "tick is not an event to name"},
		{"tick", func(s *Spec) { s.On = On(stubs.Tick) }, "use Every"},
		{"unknown event", func(s *Spec) { s.On = On(1 << 14) }, "unknown events 0x4000"},
		{"custom name alone", func(s *Spec) { s.On = Trigger{Events: stubs.Enqueue, Custom: "x"} }, "use OnCustom"},
		{"custom name and interval", func(s *Spec) { s.On.Custom = "x" }, "needs the event custom; use OnCustom"},
		{"mode", func(s *Spec) { s.Mode = 3 }, "unknown mode 3"},
		{"kind", func(s *Spec) { s.Match.Kinds = []string{"fast"} }, `no kind "fast"; want "atomic"`},
		{"loop", func(s *Spec) { s.Match.Loops = []string{""} }, "a loop's name is empty"},
		{"task", func(s *Spec) { s.Match.Tasks = []string{"a", ""} }, "a task's name is empty"},
		{"long task", func(s *Spec) { s.Match.Tasks = []string{strings.Repeat("x", 1025)} }, "a task's name has 1025 bytes, and 1024 are allowed"},
		{"state name", func(s *Spec) { s.State = map[string]any{"a-b": 1} }, `state "a-b": a name`},
		{"state digit", func(s *Spec) { s.State = map[string]any{"1a": 1} }, `state "1a": a name`},
		{"state type", func(s *Spec) { s.State = map[string]any{"a": "x"} }, `state "a" has the Go type string`},
		{"state nil", func(s *Spec) { s.State = map[string]any{"a": nil} }, "Go type <nil>"},
	} {
		s := good
		c.edit(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

func TestSpecParse(t *testing.T) {
	s := Spec{Name: "p", On: Every(time.Second), State: map[string]any{"mine": time.Second},
		Expr: `task.running > state.mine and state.shared ? throw("long") : set("mine", task.running)`}
	shared := map[string]State{"shared": {Type: stubs.Bool}}
	p, err := s.Parse(shared, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.On != stubs.Tick || len(p.Reads) != 3 || p.Reads[1].Type != stubs.Duration {
		t.Errorf("on %v, reads %+v", p.On, p.Reads)
	}
	if len(shared) != 1 {
		t.Errorf("the caller's map was changed: %v", shared)
	}
	if _, err := s.Parse(map[string]State{"shared": {Type: stubs.Bool}, "mine": {Type: stubs.Int}}, nil); err == nil || !strings.Contains(err.Error(), "registered already") {
		t.Errorf("private state of a registered name: %v", err)
	}
	s.Name = ""
	if _, err := s.Parse(shared, nil); err == nil {
		t.Error("an invalid spec was parsed")
	}
}
