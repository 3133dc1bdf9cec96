package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// TestMain lets the test binary run as the server and the generator, as the program does.
func TestMain(m *testing.M) {
	if !roles.Play("redos") {
		os.Exit(m.Run())
	}
}

// stoppable reports whether this test was built with safe points in regexp2, as by cocoon test.
func stoppable(t *testing.T) bool {
	t.Helper()
	yes, err := hasSafePoints(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return yes
}

// testLoad returns a load of three attacks: an endless one, one that takes a while, and a harmless
// one.
func testLoad(t *testing.T) load {
	t.Helper()
	mild := evilCase{Name: "mild", Pattern: `^a+$`, Pump: "a", Repeat: 100, BenignRepeat: 2, BenignMatch: true}
	text, err := json.Marshal([]evilCase{builtIn[0], builtIn[7], mild})
	if err != nil {
		t.Fatal(err)
	}
	return load{
		CasesFile: writeCases(t, string(text)), Cases: 3, PingRate: 200, AttackRate: 6,
		WarmUp: 50 * time.Millisecond, Patience: time.Second, Seed: seed,
	}
}

func testExperiment(t *testing.T, l load) (*bytes.Buffer, experiment, *display) {
	t.Helper()
	where, _, err := loadtest.Place("auto")
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	return &stdout, experiment{load: l, placement: where, stderr: t.Output()}, newDisplay(&stdout, t.Output(), true)
}

// TestEveryMode runs the whole experiment, small and short. Matches that end by themselves end
// right; endless matches are stopped if the test was built with safe points.
func TestEveryMode(t *testing.T) {
	l := testLoad(t)
	stdout, e, show := testExperiment(t, l)
	if err := errors.Join(e.run(t.Context(), modes, show), show.results.Finish()); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(stdout)
	decoder.DisallowUnknownFields()
	safePoints := stoppable(t)
	for _, m := range modes {
		var f figures
		if err := decoder.Decode(&f); err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS == "linux" && (f.CPUus <= 0 || f.Switches <= 0) {
			t.Errorf("%+v; want what a request cost the server", f)
		}
		if f.Mode != m.Name || f.PingP50us <= 0 || f.PingP99us < f.PingP50us {
			t.Errorf("%+v; want mode %s, and times of its pings", f, m.Name)
		}
		if !m.attacks {
			if f != (figures{Mode: m.Name, PingP50us: f.PingP50us, PingP99us: f.PingP99us, GeneratorLateP99us: f.GeneratorLateP99us, Cost: f.Cost}) {
				t.Errorf("%+v; want pings alone", f)
			}
			continue
		}
		if f.Attacks != 3 || f.Answered+f.Stopped > f.Attacks {
			t.Errorf("%+v; want 3 attacks", f)
		}
		if safePoints && m.Name == "cocoon" {
			if f.Stopped != 2 || f.Answered != 1 || f.WrongBenign != 0 || f.LatenessMaxus < f.LatenessP50us {
				t.Errorf("%+v; want the two evil attacks stopped, and no wrong benign verdict", f)
			}
		} else if f.Stopped != 0 || f.Answered == f.Attacks || f.LatenessMaxus != 0 {
			t.Errorf("%+v; want the endless attack not to be answered, and none to be stopped", f)
		}
	}
	if decoder.More() {
		t.Errorf("there is more than a line for each mode: %s", stdout)
	}
}

// TestFields checks that a line has the fields that bench reads.
func TestFields(t *testing.T) {
	var stdout bytes.Buffer
	show := newDisplay(&stdout, t.Output(), true)
	show.result(modes[1], outcome{Attacks: 3, Escaped: "x", Benign: 1, Wrong: "y", Requests: 4, Used: loadtest.Usage{CPU: 6 * time.Microsecond, Switches: 2}})
	const want = `{"mode":"plain","attacks":3,"stopped":0,"answered":0,"lateness_p50_us":0,"lateness_p99_us":0,"lateness_max_us":0,` +
		`"ping_p50_us":0,"ping_p99_us":0,"wrong_benign":1,"generator_late_p99_us":0,"server_cpu_us":1.5,"server_switches":0.5}` + "\n"
	if err := show.results.Finish(); err != nil || stdout.String() != want {
		t.Errorf("got %s, %v; want %s", stdout.String(), err, want)
	}
}

func TestTable(t *testing.T) {
	var stdout bytes.Buffer
	show := newDisplay(&stdout, t.Output(), false)
	o := outcome{Attacks: 126, Stopped: 126, Lateness: loadtest.SumUp([]time.Duration{time.Millisecond})}
	show.result(modes[2], o)
	if err := show.results.Finish(); err != nil || !strings.Contains(stdout.String(), "1.00 ms") || strings.Count(stdout.String(), "\n") != 2 {
		t.Errorf("%v\n%s", err, &stdout)
	}
}

// TestInterrupt checks that the end of the context, as by Ctrl-C, ends the children.
func TestInterrupt(t *testing.T) {
	l := testLoad(t)
	l.AttackRate = 0.001
	_, e, show := testExperiment(t, l)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	show.console = loadtest.NewConsole(writerFunc(func(p []byte) (int, error) {
		if bytes.HasPrefix(p, []byte("plain")) { // the first progress: both children are running
			cancel(enough)
		}
		return len(p), nil
	}))
	if err := e.run(ctx, modes[1:2], show); !errors.Is(err, enough) {
		t.Errorf("the run ended with %v; want %v", err, enough)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestHandler(t *testing.T) {
	for _, m := range modes {
		svc, err := m.open()
		if err != nil {
			t.Fatal(err)
		}
		h := handler(svc)
		for _, c := range []struct {
			body, want string
			status     int
		}{
			{`{"Pattern": "^a+$", "Input": "aaa"}`, `{"Matched":true,`, http.StatusOK},
			{`{"Pattern": "^a+$", "Input": "AAA"}`, `{"Matched":false,`, http.StatusOK},
			{`{"Pattern": "^a+$", "Input": "AAA", "Options": ["IgnoreCase"]}`, `{"Matched":true,`, http.StatusOK},
			{`{"Pattern": "^a+$", "Input": "aaa", "Options": ["Fast"]}`, `no option "Fast"`, http.StatusBadRequest},
			{`{"Pattern": "(a"}`, "error parsing regexp", http.StatusBadRequest},
			{`{`, "unexpected EOF", http.StatusBadRequest},
			{``, "EOF", http.StatusBadRequest},
			{`{"Input": "` + strings.Repeat("a", maxQuestion) + `"}`, "too large", http.StatusBadRequest},
			{`{}`, `{"Matched":true,`, http.StatusOK}, // the empty pattern matches everywhere
		} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/match", strings.NewReader(c.body)))
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%s: POST %.80s: status %d, %s; want %d, %s", m.Name, c.body, w.Code, w.Body, c.status, c.want)
			}
		}
		if err := svc.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPatternsAreBounded checks that users cannot make the server keep an unlimited number of
// patterns, and that a kept pattern is reused.
func TestPatternsAreBounded(t *testing.T) {
	p := newPatterns()
	for i := range 2*maxPatterns + 1 {
		pattern := strings.Repeat("a", i+1)
		one, err := p.compile(pattern, nil)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := p.compile(pattern, nil); one != other || err != nil {
			t.Fatalf("pattern %d was compiled twice, %v", i, err)
		}
		if len(p.known) > maxPatterns {
			t.Fatalf("%d patterns are kept", len(p.known))
		}
	}
}

// TestWrongAnswersFailTheRun checks that a server that fails makes the run fail, with the case's
// name.
func TestWrongAnswersFailTheRun(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/match" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer server.Close()
	l := testLoad(t)
	l.Address, l.Attacks = server.Listener.Addr().String(), true
	g, err := newGenerator(l)
	if err != nil {
		t.Fatal(err)
	}
	g.drive(t.Context())
	o := summarize(l, g.cases, g.schedule, g.samples)
	if o.Errors != len(g.schedule) || o.Pings.Count != 0 || o.Attacks != 0 || o.FirstErr == "" {
		t.Errorf("%+v; want nothing but %d errors", o, len(g.schedule))
	}
	if p := g.progress(); p.Attacks != 3 || int(p.Pings) != len(g.schedule)-3 {
		t.Errorf("at the end the progress is %+v", p)
	}
	l.CasesFile = filepath.Join(t.TempDir(), "gone.json")
	if _, err := newGenerator(l); err == nil {
		t.Error("a generator whose cases are gone has started")
	}
}
