package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// TestMain lets the test binary run as the server, as the program does.
func TestMain(m *testing.M) {
	if !roles.Play("abandoned") {
		os.Exit(m.Run())
	}
}

func TestSizeOfTheValue(t *testing.T) {
	for _, size := range []int{1, 5} {
		text, err := json.Marshal(makeValue(size))
		if err != nil {
			t.Fatal(err)
		}
		if want := float64(size) * 1e6; math.Abs(float64(len(text))-want) > 0.02*want {
			t.Errorf("%d MB are %d bytes of JSON", size, len(text))
		}
	}
}

// TestEveryMode runs the whole program, with a small value. How the test was built determines
// whether work is stopped; in either case the client's disconnect ends the work, or it ends by
// itself.
func TestEveryMode(t *testing.T) {
	var stdout bytes.Buffer
	if err := run(t.Context(), []string{"-json", "-size", "4", "-rounds", "3"}, &stdout, t.Output()); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(&stdout)
	for _, m := range modes {
		var f figures
		if err := decoder.Decode(&f); err != nil {
			t.Fatal(err)
		}
		if f.Mode != m.name || f.AloneUs <= 0 || f.Left > 3 || f.Stopped > f.Left || f.InTime > f.Stopped || f.LatenessP50us > f.LatenessMaxus {
			t.Errorf("%+v; want mode %s, 3 rounds", f, m.name)
		}
		if !m.cocoon && f.Stopped > 0 {
			t.Errorf("%+v; plain net/http stops nothing", f)
		}
	}
	if decoder.More() {
		t.Errorf("there is more than a line for each mode")
	}
}

func TestTable(t *testing.T) {
	var stdout bytes.Buffer
	results := newResults(&stdout, false)
	outcome{Mode: "plain", Alone: time.Second, Left: 3, Late: loadtest.SumUp([]time.Duration{time.Millisecond})}.show(results)
	if err := results.Finish(); err != nil {
		t.Fatal(err)
	}
	if text := stdout.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "1000.00 ms") || !strings.Contains(text, " 1.00 ms") {
		t.Error(text)
	}
}

func TestBadCommandLines(t *testing.T) {
	for line, want := range map[string]string{
		"-size 0":      "1 to 4000",
		"-size 4001":   "1 to 4000",
		"-rounds 0":    "1 to 10000",
		"-rounds many": "-rounds",
		"more":         `argument "more"`,
	} {
		if _, err := parse(strings.Fields(line), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v; want one with %q", line, err, want)
		}
	}
	var text strings.Builder
	if _, err := parse([]string{"-h"}, &text); !errors.Is(err, flag.ErrHelp) || !strings.Contains(text.String(), "cocoon run") {
		t.Errorf("-h: %v, %s", err, &text)
	}
}

// endless is a value with an encoding that never ends, but reaches safe points, however the test
// was built.
type endless struct{ begun chan<- struct{} }

func (e endless) MarshalJSON() ([]byte, error) {
	close(e.begun)
	for {
		cocoon.SafePoint(context.Background())
	}
}

// TestClientLeaves checks that work that reaches safe points is stopped when the client
// disconnects, and that the server reports the policy that stopped it.
func TestClientLeaves(t *testing.T) {
	rt, err := startRuntime()
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Shutdown(context.Background())
	begun := make(chan struct{})
	s := server{value: endless{begun}, do: inTask(rt), ended: make(chan export, 1)}
	served := httptest.NewServer(s.handler())
	defer served.Close()
	c := client{loadtest.NewClient(), served.URL}
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-begun
		leave()
	}()
	if err := c.export(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the client got %v; want its own leaving", err)
	}
	end, err := c.ended(t.Context())
	if err != nil || !strings.Contains(end.Stopped, "caller-gone") || end.Took <= 0 || end.Ended == 0 {
		t.Errorf("the work ended as %+v, %v; want it stopped by policy caller-gone", end, err)
	}
}
