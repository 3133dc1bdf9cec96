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
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// TestMain lets the test binary run as the server and the generator, as the program does.
func TestMain(m *testing.M) {
	if !roles.Play("hol") {
		os.Exit(m.Run())
	}
}

func testExperiment(t *testing.T, l load, asJSON bool) (*bytes.Buffer, experiment, *display) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	where, _, err := loadtest.Place("auto")
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	return &stdout, experiment{load: l, placement: where, stderr: os.Stderr}, newDisplay(&stdout, t.Output(), asJSON)
}

// TestEveryModeAnswersRight runs the whole experiment, small and short: the generator compares
// every response with the known record or sum, and a mode with one wrong or missing response fails.
func TestEveryModeAnswersRight(t *testing.T) {
	stdout, e, show := testExperiment(t, testLoad, true)
	if err := errors.Join(e.run(t.Context(), modes, show), show.results.Finish()); err != nil {
		t.Fatal(err)
	}
	wantGets := 0
	for _, r := range testLoad.schedule() {
		if r.kind == get && r.at >= testLoad.WarmUp {
			wantGets++
		}
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if len(lines) != len(modes) {
		t.Fatalf("%d lines; want one for each of %d modes:\n%s", len(lines), len(modes), stdout)
	}
	for i, line := range lines {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for _, field := range []string{"get_p50_us", "get_p99_us", "get_p999_us", "gets", "scans", "scan_p50_us", "scan_p99_us"} {
			n, ok := object[field].(float64)
			// On a busy machine, possibly no scan has ended within 300 ms; but all scans got a
			// response, and have latencies.
			zero := field == "scans" || !modes[i].scans && strings.HasPrefix(field, "scan_")
			if !ok || n < 0 || n == 0 && !zero {
				t.Errorf("%s: field %s is %v", line, field, object[field])
			}
		}
		if object["mode"] != modes[i].Name || object["gets"] != float64(wantGets) {
			t.Errorf("%s: want mode %s with %d gets", line, modes[i].Name, wantGets)
		}
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

func TestWrongAnswersFailTheRun(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/get":
			w.Write(makeOrder(1 << 20).encode())
		case "/scan":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/usage":
			w.Write([]byte("{}"))
		}
	}
	server := httptest.NewServer(http.HandlerFunc(answer))
	defer server.Close()
	l := testLoad
	l.Address = server.Listener.Addr().String()
	g := newGenerator(l)
	g.drive(t.Context())
	o := summarize(l, g.schedule, g.samples)
	if want := len(g.schedule) - 2; o.Errors != want || o.Gets.Count != 0 || o.ScansIn != 0 {
		t.Errorf("%+v; want %d errors and no good answers", o, want)
	}
	if !strings.Contains(o.FirstErr, "GET /") {
		t.Errorf("the error %q does not name the request", o.FirstErr)
	}
}

// TestInterrupt checks that the end of the context, as by Ctrl-C, ends the children and removes the
// database.
func TestInterrupt(t *testing.T) {
	l := testLoad
	l.Duration = time.Hour
	l.GetRate, l.ScanRate = 1, 1
	_, e, show := testExperiment(t, l, true)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	show.console = loadtest.NewConsole(writerFunc(func(p []byte) (int, error) {
		// The first progress: both children are running.
		if bytes.HasPrefix(p, []byte(modes[0].Name)) {
			cancel(enough)
		}
		return len(p), nil
	}))
	if err := e.run(ctx, modes[:1], show); !errors.Is(err, enough) {
		t.Errorf("the run ended with %v; want %v", err, enough)
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestHandlerRefusesBadNumbers(t *testing.T) {
	svc, err := openPlain(testStore(t, 10))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"/get?id=9":             http.StatusOK,
		"/get?id=10":            http.StatusNotFound,
		"/get":                  http.StatusBadRequest,
		"/get?id=-1":            http.StatusBadRequest,
		"/scan?from=0&to=10":    http.StatusOK,
		"/scan?from=0":          http.StatusBadRequest,
		"/scan?from=x&to=1e3":   http.StatusBadRequest,
		"/scan?from=10&to=1":    http.StatusOK,
		"/put?id=1":             http.StatusNotFound,
		"/usage":                http.StatusOK,
		"/get?id=9&id=nonsense": http.StatusOK,
	} {
		w := httptest.NewRecorder()
		handler(svc).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("GET %s: status %d; want %d (%s)", path, w.Code, want, w.Body)
		}
	}
}

// TestCommandLine checks that the command line determines the measurement: the modes in their
// order, and as many gets as the rate and the duration imply.
func TestCommandLine(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills a database of the full size, and warms up for a second a mode")
	}
	t.Setenv("TMPDIR", t.TempDir())
	var stdout bytes.Buffer
	name := filepath.Join(t.TempDir(), "stderr")
	stderr, err := os.Create(name) // a file, because the children write there too
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	line := "-json -duration 400ms -get-rate 90 -scan-rate 5 -cpus none -modes cocoon,idle"
	err = run(t.Context(), strings.Fields(line), &stdout, stderr)
	text, readErr := os.ReadFile(name)
	if err := errors.Join(err, readErr); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	want := 0
	for _, r := range (load{Records: records, ScanRecords: scanRecords, GetRate: 90, WarmUp: time.Second, Duration: 400 * time.Millisecond, Seed: seed}).schedule() {
		if r.kind == get && r.at >= time.Second {
			want++
		}
	}
	decoder := json.NewDecoder(&stdout)
	for _, mode := range []string{"cocoon", "idle"} {
		var f figures
		if err := decoder.Decode(&f); err != nil || f.Mode != mode || f.Gets != want || want == 0 || (f.ScanP50us > 0) != (mode == "cocoon") {
			t.Errorf("%+v, %v; want mode %s with %d gets", f, err, mode, want)
		}
	}
	for _, want := range []string{"90 gets and ", "filling a bbolt database with 200000 records"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("standard error is %q; want %q", text, want)
		}
	}
}
