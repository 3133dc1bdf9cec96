package cocoon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"
)

// preempted returns the error of a task that a policy of two lines has thrown into.
func preempted(t *testing.T) *PreemptedError {
	t.Helper()
	rt := start(t, Config{Slots: 1})
	must(t, rt.LoadPolicies(strings.NewReader(`version: 1
policies:
- name: limit
  every: 1ms
  state: {most: 3ms}
  expr: |
    task.labels.plan == "free"
      ? task.running > state.most ? throw("too long", duration("2s")) : continue()
      : continue()
`)))
	err := rt.Run(WithLabel(background, "plan", "free"), "GET /report", func(ctx context.Context) error {
		_, err := Section(ctx, "render", func() (int, error) { return 0, spinForever(ctx) })
		return err
	})
	var p *PreemptedError
	if !errors.As(err, &p) {
		t.Fatal(err)
	}
	return p
}

// The verb %+v tells the whole story of a throw, and %v the one line as before.
func TestStoryOfAThrow(t *testing.T) {
	p := preempted(t)
	got := regexp.MustCompile(`[0-9.]+(ms|µs|s)\b`).ReplaceAllString(fmt.Sprintf("%+v", p), "TIME")
	for _, want := range []string{
		`task "GET /report" preempted in section "render" by policy "limit" after running TIME at `, `): too long` + "\n",
		`document:8:37: policy "limit": version 1 decided here
  8 |       ? task.running > state.most ? throw("too long", duration("TIME")) : continue()
    |                                     ^`,
		`
  because task.labels.plan == "free" is true
  because task.running > state.most is true
  read task.labels["plan"]="free"
  read task.running=TIME
  read state.most=TIME
  the task had been queued TIME, running TIME, suspended TIME, blocked TIME, without a processor TIME, switched out 0 times
`, "cocoon.spin",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the story lacks\n%s\nin\n%s", want, got)
		}
	}
	for verb, want := range map[string]string{"%v": p.Error(), "%s": p.Error(), "%q": fmt.Sprintf("%q", p.Error())} {
		if got := fmt.Sprintf(verb, p); got != want {
			t.Errorf("%s prints %s; want %s", verb, got, want)
		}
	}
	if a := p.Account(); a.Running < 3*time.Millisecond || a.Running != p.Running {
		t.Errorf("%+v, and it ran for %v", a, p.Running)
	}
}

// JSON and package slog get the same facts.
func TestStoryForPrograms(t *testing.T) {
	p := preempted(t)
	text, err := json.Marshal(p)
	must(t, err)
	var got struct {
		Error, Policy, Reason, Task, Section, Where, Stack string
		Version                                            int
		Started                                            bool
		Retry                                              int64 `json:"retry_after_ns"`
		Account                                            struct {
			Running int64 `json:"running_ns"`
		}
		Branch struct {
			File, Text   string
			Line, Column int
			Because      []Condition
		}
		Values []struct {
			Stub  string
			Value any
		}
	}
	must(t, json.Unmarshal(text, &got))
	b, ok := p.Branch()
	if !ok || got.Error != p.Error() || got.Policy != "limit" || got.Version != 1 || got.Reason != "too long" || got.Task != "GET /report" || got.Section != "render" ||
		!got.Started || got.Retry != int64(2*time.Second) || got.Where != p.Where() || got.Stack != p.Stack() || got.Account.Running != int64(p.Running) {
		t.Errorf("%s", text)
	}
	if got.Branch.File != b.File || got.Branch.Line != 8 || got.Branch.Column != 37 || got.Branch.Text != `throw("too long", duration("2s"))` || len(got.Branch.Because) != 2 || !got.Branch.Because[1].Holds {
		t.Errorf("%s", text)
	}
	if len(got.Values) != 3 || got.Values[0].Value != "free" || got.Values[2].Value != "3ms" {
		t.Errorf("%s", text)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Error("refused", "err", p)
	for _, want := range []string{`err.policy=limit err.version=1 err.reason="too long" err.section=render`, ` err.branch="document:8:37: throw(\"too long\", duration(\"2s\"))"`, `err.values.task.labels[\"plan\"]`, "err.values.state.most=3ms"} {
		if !strings.Contains(strings.ReplaceAll(log.String(), `"err.values.task.labels[\"plan\"]"`, `err.values.task.labels[\"plan\"]`), want) {
			t.Errorf("the line lacks %s:\n%s", want, log.String())
		}
	}
}

// The error of a cancellation has no policy to tell of.
func TestStoryOfACancel(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	h := begun(t, rt.Loop(), background, "task", spinForever)
	h.Cancel()
	err := h.Wait(background)
	var p *PreemptedError
	if !errors.As(err, &p) {
		t.Fatal(err)
	}
	if _, ok := p.Branch(); ok || p.Values() != nil || p.Version() != 0 {
		t.Errorf("%+v", p)
	}
	text, err := json.Marshal(p)
	must(t, err)
	if !strings.Contains(string(text), `"cause":"task was cancelled"`) || strings.Contains(string(text), "branch") {
		t.Errorf("%s", text)
	}
	if story := fmt.Sprintf("%+v", p); !strings.Contains(story, "the task had been queued") || strings.Contains(story, "policy") {
		t.Error(story)
	}
}
