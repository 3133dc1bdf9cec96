package loadtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestResults(t *testing.T) {
	for _, c := range []struct {
		json bool
		rows int
		want string
	}{
		{true, 0, ""},
		{false, 0, ""},
		{true, 2, "{\"A\":0}\n{\"A\":1}\n"},
		{false, 2, "  mode    a\n  idle  1 s\n  idle  1 s\n"},
	} {
		var w strings.Builder
		r := NewResults(&w, c.json, "mode", "a")
		for i := range c.rows {
			r.Add(struct{ A int }{i}, "idle", "1 s")
		}
		if early := w.String(); c.json != (early != "") && c.rows > 0 {
			t.Errorf("json %t: before the end there is %q", c.json, early)
		}
		if err := r.Finish(); err != nil || w.String() != c.want {
			t.Errorf("json %t, %d results: %q, %v; want %q", c.json, c.rows, w.String(), err, c.want)
		}
	}
}

type broken struct{}

var errBroken = errors.New("broken")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestResultsThatCannotBePrinted(t *testing.T) {
	for _, json := range []bool{false, true} {
		r := NewResults(broken{}, json, "mode")
		r.Add(1, "1")
		if err := r.Finish(); !errors.Is(err, errBroken) {
			t.Errorf("json %t: %v; want %v", json, err, errBroken)
		}
	}
}

func TestModes(t *testing.T) {
	type mode struct {
		Mode
		n int
	}
	all := []mode{{Mode{Name: "idle", About: "nothing"}, 1}, {Mode{Name: "busy", About: "much"}, 2}}
	if chosen, err := ChooseModes(all, "busy,idle,busy"); err != nil || len(chosen) != 3 || chosen[0].n != 2 || chosen[1].n != 1 {
		t.Errorf("got %v, %v", chosen, err)
	}
	for _, flag := range []string{"", "idle,", "lazy"} {
		const want = "there are idle, busy"
		if _, err := ChooseModes(all, flag); err == nil || !strings.HasPrefix(err.Error(), "-modes "+flag+": ") || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("-modes %s: %v; want an error with %q", flag, err, want)
		}
	}
	var w strings.Builder
	if DescribeModes(&w, all); w.String() != "  idle        nothing\n  busy        much\n" {
		t.Errorf("described as %q", w.String())
	}
}

// TestModeCheck checks that a mode that was interrupted, failed, or got wrong responses ends the
// experiment with that reason.
func TestModeCheck(t *testing.T) {
	m := Mode{Name: "busy"}
	over, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	cancel(interrupted)
	for _, c := range []struct {
		ctx    context.Context
		failed error
		wrong  int
		want   string
	}{
		{t.Context(), nil, 0, "<nil>"},
		{t.Context(), errBroken, 1, "mode busy: broken"},
		{t.Context(), nil, 2, "mode busy: 2 requests went wrong; the first: oh"},
		{over, errBroken, 2, "interrupted"},
	} {
		if got := fmt.Sprint(m.Check(c.ctx, c.failed, c.wrong, "oh")); got != c.want {
			t.Errorf("%v, %v, %d: %s; want %s", c.ctx.Err(), c.failed, c.wrong, got, c.want)
		}
	}
}
