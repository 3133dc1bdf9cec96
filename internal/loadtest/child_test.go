package loadtest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// roles are the roles of the test binary as a child.
var roles = Roles{
	"server": Role(func(c testConfig) error {
		return Serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, c.Word) }))
	}),
	"generator": Role(func(c testConfig) error {
		drive := func(context.Context) {}
		if c.Word == "endless" {
			drive = func(ctx context.Context) { <-ctx.Done() }
		}
		return Generate(drive, func() string { return "at work" }, func() testConfig { return c })
	}),
	"brief":    Role(func(testConfig) error { return json.NewEncoder(os.Stdout).Encode("here") }),
	"stubborn": Role(func(testConfig) error { json.NewEncoder(os.Stdout).Encode("here"); select {} }),
}

type testConfig struct{ Word string }

func TestMain(m *testing.M) {
	if !roles.Play("loadtest") {
		os.Exit(m.Run())
	}
}

func TestServer(t *testing.T) {
	server, address, err := StartServer(t.Context(), testConfig{"hello"}, nil, nil, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	response, err := NewClient().Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); string(body) != "hello" || err != nil {
		t.Errorf("it answers %q, %v", body, err)
	}
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
}

func TestGenerator(t *testing.T) {
	want := testConfig{`quotes " and \ arrive`}
	got, err := Follow[string, testConfig](t.Context(), want, nil, t.Output(), func(string) {})
	if err != nil || got != want {
		t.Errorf("the outcome is %v, %v; want %v", got, err, want)
	}
}

// TestInterrupt checks that the end of the context ends a working generator.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Follow[string, testConfig](ctx, testConfig{"endless"}, nil, io.Discard, func(news string) {
		if news != "at work" {
			t.Errorf("progress %q", news)
		}
		cancel()
	})
	if err == nil || !strings.Contains(err.Error(), "without a result") {
		t.Errorf("error %v; want that of a generator without a result", err)
	}
}

func TestKill(t *testing.T) {
	child, err := Start(t.Context(), "stubborn", testConfig{}, nil, nil, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	var word string
	if err := child.Receive(&word); err != nil || word != "here" {
		t.Errorf("it says %q, %v", word, err)
	}
	start := time.Now()
	if err := child.Kill(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("to kill it took %v, as if it had been waited for", took)
	}
}

func TestChildThatEnds(t *testing.T) {
	child, err := Start(t.Context(), "brief", testConfig{}, nil, nil, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	var word string
	if err := errors.Join(child.Receive(&word), child.Receive(&word)); !errors.Is(err, io.EOF) {
		t.Errorf("after the child's end: %v; want %v", err, io.EOF)
	}
	if err := child.Kill(); err != nil {
		t.Errorf("to kill what has ended: %v", err)
	}
}
