package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// TestMain lets the test binary run as the children, as the program does.
func TestMain(m *testing.M) {
	if !roles.Play("overload") {
		os.Exit(m.Run())
	}
}

func testExperiment(t *testing.T, l load) (*bytes.Buffer, experiment, *display) {
	t.Helper()
	where, _, err := loadtest.Place("auto")
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	return &stdout, experiment{load: l, placement: where, stderr: os.Stderr}, newDisplay(&stdout, t.Output(), true)
}

// TestEveryMode runs the whole experiment, short and with little work: the generator checks every
// response.
func TestEveryMode(t *testing.T) {
	stdout, e, show := testExperiment(t, testLoad)
	const rounds = 2
	if err := errors.Join(e.run(t.Context(), modes, rounds, show), show.results.Finish()); err != nil {
		t.Fatal(err)
	}
	want := 0
	for round := range rounds {
		l := testLoad
		l.Seed = uint64(round + 1)
		for _, r := range l.schedule() {
			if r.at >= l.WarmUp {
				want++
			}
		}
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if len(lines) != len(modes) {
		t.Fatalf("%d lines; want one for each of %d modes:\n%s", len(lines), len(modes), stdout)
	}
	for i, line := range lines {
		var f figures
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if f.Mode != modes[i].Name || f.Runs != rounds || f.Sent != want || f.CriticalSent+f.NormalSent+f.BatchSent != want {
			t.Errorf("%s: want mode %s with %d requests in %d runs", line, modes[i].Name, want, rounds)
		}
		if f.CriticalGood+f.NormalGood+f.BatchGood != f.Good || f.PaidGood+f.FreeGood != f.NormalGood || f.PaidSent+f.FreeSent != f.NormalSent || f.Good+f.Refused+f.Expired > f.Sent || f.Good == 0 {
			t.Errorf("%s: the counts do not fit", line)
		}
	}
}

// TestCocoonActs checks that with practically endless work, the policies refuse batch requests and
// stop the running one.
func TestCocoonActs(t *testing.T) {
	did := new(actions)
	limited, stop, err := openCocoon(workHandler(1000), did, "")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler(limited, did))
	defer func() {
		server.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	statuses := make(chan int)
	const crowd = 200
	for range crowd {
		go func() {
			status, _, err := loadtest.Do(t.Context(), server.Client(), http.MethodGet,
				fmt.Sprintf("%s/batch?pieces=%d&tenant=free", server.URL, maxPieces), nil)
			if err != nil {
				t.Error(err)
			}
			statuses <- status
		}()
	}
	count := map[int]int{}
	for range crowd {
		count[<-statuses]++
	}
	if n := count[http.StatusServiceUnavailable]; n == 0 || n != len(did.list()) {
		t.Errorf("%v; %d actions", count, len(did.list()))
	}
}

func TestWrongAnswersFailTheRun(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/actions":
			w.Write([]byte("[]"))
		case strings.HasPrefix(r.URL.Path, "/normal"):
			w.WriteHeader(http.StatusTeapot)
		default:
			w.Write([]byte("0"))
		}
	}))
	defer server.Close()
	l := testLoad
	l.Address = server.Listener.Addr().String()
	g := newGenerator(l)
	g.start = time.Now()
	g.drive(t.Context())
	o := g.outcome()
	if o.Errors != len(g.schedule) || o.Good != 0 || o.Acted || o.FirstErr == "" {
		t.Errorf("%+v; want %d errors", o, len(g.schedule))
	}
}

// TestInterrupt checks that the end of the context, as by Ctrl-C, ends the children.
func TestInterrupt(t *testing.T) {
	l := testLoad
	l.Duration = time.Hour
	l.Surge = 1
	_, e, show := testExperiment(t, l)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	show.console = loadtest.NewConsole(writerFunc(func(p []byte) (int, error) {
		cancel(enough) // the first progress: both children are running
		return len(p), nil
	}))
	if err := e.run(ctx, modes[:1], 1, show); !errors.Is(err, enough) {
		t.Errorf("the run ended with %v; want %v", err, enough)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestHandlerRefusesBadRequests(t *testing.T) {
	for _, m := range modes {
		did := new(actions)
		limited, stop, err := m.open(workHandler(1), did, "")
		if err != nil {
			t.Fatal(err)
		}
		h := handler(limited, did)
		for path, want := range map[string]int{
			"/critical?pieces=1":         http.StatusOK,
			"/batch?pieces=8000":         http.StatusOK,
			"/critical?pieces=0":         http.StatusBadRequest,
			"/critical":                  http.StatusBadRequest,
			"/normal?pieces=8001":        http.StatusBadRequest,
			"/normal?pieces=x":           http.StatusBadRequest,
			"/other?pieces=1&tenant=foo": http.StatusNotFound,
			"/actions":                   http.StatusOK,
		} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			if w.Code != want {
				t.Errorf("%s: GET %s: status %d, want %d", m.Name, path, w.Code, want)
			}
		}
		if err := stop(); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}
