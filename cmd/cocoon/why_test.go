package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// recorded runs a server in which a task stalls while another one waits, and returns the file that
// its flight recorder writes.
func recorded(t *testing.T) string {
	t.Helper()
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, StallAfter: 5 * time.Millisecond, FlightRecorder: cocoon.FlightRecorder{Folder: t.TempDir()}})
	_, err := rt.RegisterPolicy(cocoon.Policy{Name: "no-bots", On: cocoon.OnEnqueue, Expr: `arriving.name in pattern("bot*") ? throw("no bots") : continue()`})
	tasktest.Must(t, err)
	decisions := rt.Decisions(cocoon.Latest)
	var refused *cocoon.PreemptedError
	if err := rt.Run(t.Context(), "bot\x1b[31m", func(context.Context) error { return nil }); !errors.As(err, &refused) {
		t.Fatal(err)
	}
	began, stop := make(chan struct{}), new(atomic.Bool)
	stalls := rt.Go(t.Context(), "report", func(context.Context) error {
		close(began)
		for !stop.Load() { // without a safe point
		}
		return nil
	})
	tasktest.Receive(t, "the report", began)
	waits := rt.Go(t.Context(), "item", func(context.Context) error { return nil })
	ctx, cancel := context.WithTimeout(t.Context(), tasktest.Patience)
	defer cancel()
	for d := range decisions.All(ctx) {
		if d.Kind == cocoon.DecisionSnapshot {
			stop.Store(true)
			tasktest.Must(t, stalls.Wait(ctx))
			tasktest.Must(t, waits.Wait(ctx))
			return d.File
		}
	}
	t.Fatal("no file was written")
	return ""
}

// why says which tasks ran and waited around a stall, and what was decided.
func TestWhy(t *testing.T) {
	file := recorded(t)
	var out, errs bytes.Buffer
	if code := run([]string{"why", file}, streams{strings.NewReader(""), &out, &errs}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, want := range []string{
		`around stall task "report" loop "default" late `, `  refusal policy "no-bots" task "bot\x1b[31m" loop "default": no bots`,
		`(?m)^  running +\S+ +\S+ +0s  "report"$`, `(?m)^  queued +\S+ +[0-9.]+ms +0s  "item"$`,
	} {
		if !strings.HasPrefix(want, "(?m)") {
			want = regexp.QuoteMeta(want)
		}
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("the description lacks %s:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("a name is shown as it is")
	}
}

// Moments before the event have as many digits as those after it, so that the columns stay aligned.
func TestWhyRounds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-321_473_649: "-321.47ms", 321_473_649: "+321.47ms", -2_000_400_000: "-2s", -584_849: "-584.8µs", 0: "0s",
	} {
		if got := signed(d); got != want {
			t.Errorf("%v is shown as %s; want %s", d, got, want)
		}
	}
}

func TestWhyRefuses(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(folder, name)
		tasktest.Must(t, os.WriteFile(path, text, 0o600))
		return path
	}
	text, err := os.ReadFile(recorded(t))
	tasktest.Must(t, err)
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "want one file"},
		{[]string{"-most", "0", "x"}, "above 0"},
		{[]string{filepath.Join(folder, "none")}, "no such file"},
		{[]string{write("text", []byte("version: 1\n"))}, "it is not an execution trace"},
		{[]string{write("damaged", append(bytes.Clone(text[:len(text)/2]), bytes.Repeat([]byte{0xff}, 100)...))}, "damaged"},
	} {
		var errs bytes.Buffer
		if code := run(append([]string{"why"}, test.args...), streams{strings.NewReader(""), io.Discard, &errs}); code != exitUsage || !strings.Contains(errs.String(), test.want) {
			t.Errorf("%q: exit code %d, %s; want %s", test.args, code, errs.String(), test.want)
		}
	}
}
