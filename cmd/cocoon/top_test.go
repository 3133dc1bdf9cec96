package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoondebug"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// debugged returns a runtime that has refused a task with a hostile name, and the handler of its
// page.
func debugged(t *testing.T) (*cocoon.Runtime, http.Handler) {
	t.Helper()
	rt := tasktest.Start(t, cocoon.Config{Slots: 2})
	_, err := rt.RegisterPolicy(cocoon.Policy{Name: "no-bots", On: cocoon.OnEnqueue, Expr: `arriving.name in pattern("bot*") ? throw("no bots") : continue()`})
	tasktest.Must(t, err)
	_ = rt.Run(t.Context(), "bot\x1b[31m\n", func(context.Context) error { return nil })
	mux := http.NewServeMux()
	mux.Handle("/debug/cocoon/", cocoondebug.Handler(rt, cocoondebug.Options{}))
	return rt, mux
}

func TestTopOnce(t *testing.T) {
	t.Parallel() // most of its time is a wait
	_, handler := debugged(t)
	server := httptest.NewServer(handler)
	defer server.Close()
	at := strings.TrimPrefix(server.URL, "http://")
	for _, address := range []string{at, server.URL, server.URL + "/debug/cocoon", server.URL + "/debug/cocoon/?sort=wait#names"} {
		var out, errs bytes.Buffer
		if code := run([]string{"top", "-once", "-json", address}, streams{nil, &out, &errs}); code != exitOK {
			t.Fatalf("%s: exit code %d: %s", address, code, &errs)
		}
		var s cocoondebug.Snapshot
		tasktest.Must(t, json.Unmarshal(out.Bytes(), &s))
		if s.Window < time.Second || s.Loops[0].Slots != 2 || s.Decisions[0].Reason != "no bots" {
			t.Errorf("%s: the snapshot is %+v", address, s)
		}
	}
	var out, errs bytes.Buffer
	if code := run([]string{"top", "-once", at}, streams{nil, &out, &errs}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	for _, line := range []string{`(?m)^default +2 +0 +0 `, `(?m)^no-bots +enforce +0 +1 +0`, `refusal +bot\\x1b\[31m\\n +no-bots +no bots`} {
		if !regexp.MustCompile(line).MatchString(out.String()) {
			t.Errorf("no line %s in\n%s", line, &out)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("a name of a task changes the terminal")
	}
}

// A mode is named, and so is the file of a document; a policy that observes only would refuse.
func TestTopDecisions(t *testing.T) {
	lines := strings.Join(decisionLines(&cocoondebug.Snapshot{Decisions: []cocoondebug.Decision{
		{Kind: "mode", Mode: "observe", Policy: "shed"},
		{Kind: "refusal", Mode: "observe", Policy: "shed", Reason: "busy"},
		{Kind: "document-loaded", Mode: "enforce", File: "p.yaml"},
		{Kind: "document-refused", Mode: "enforce", File: "p.yaml", Reason: "p.yaml:1:1: bad"},
		{Kind: "action", Mode: "enforce", File: "p.yaml", Reason: "load, from 127.0.0.1:80"},
		{Kind: "policy-added", Mode: "enforce", File: "p.yaml", Policy: "shed"},
	}}), "\n")
	for _, want := range []string{
		`mode observe +shed$`, `refusal \(observed\) +shed +busy$`, `document-loaded +p.yaml$`,
		`document-refused +p.yaml:1:1: bad$`, `action +load, from 127.0.0.1:80: p.yaml$`, `policy-added +shed$`,
	} {
		if !regexp.MustCompile("(?m)" + want).MatchString(lines) {
			t.Errorf("no line %s in\n%s", want, lines)
		}
	}
}

func TestTopRefuses(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	tasktest.Must(t, err)
	gone.Close()
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-h"}, exitOK, "usage: cocoon top"},
		{nil, exitUsage, "want one URL"},
		{[]string{"a", "b"}, exitUsage, "want one URL"},
		{[]string{"-sort", "x", "localhost"}, exitUsage, "want cpu, wait or throws"},
		{[]string{"ftp://localhost"}, exitUsage, "is not the address of a page"},
		{[]string{"localhost:1"}, exitUsage, "not a terminal; use -once"},
		{[]string{"-once", other.URL}, exitFound, "404 Not Found"},
		{[]string{"-once", gone.Addr().String()}, exitFound, "refused"},
	} {
		var errs bytes.Buffer
		code := run(append([]string{"top"}, test.args...), streams{strings.NewReader(""), io.Discard, &errs})
		if code != test.code || !strings.Contains(errs.String(), test.says) {
			t.Errorf("%q: exit code %d, %s; want %d, %q", test.args, code, &errs, test.code, test.says)
		}
	}
}

// shown is what a terminal got.
type shown struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *shown) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// has reports whether the terminal got a text since the last call in which it had.
func (s *shown) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, after, ok := strings.Cut(s.text.String(), text)
	if ok {
		s.text.Reset()
		s.text.WriteString(after)
	}
	return ok
}

// The screen follows the server, keys, the terminal's size and the loss of the server, and leaves
// the terminal as it was.
func TestTopScreen(t *testing.T) {
	t.Parallel() // most of its time is a wait
	_, handler := debugged(t)
	server := httptest.NewUnstartedServer(handler)
	address := server.Listener.Addr().String()
	server.Start()
	keyboard, keys := io.Pipe()
	var out shown
	url, err := streamOf(address)
	tasktest.Must(t, err)
	v := &top{streams: streams{keyboard, &out, io.Discard}, url: url, sort: cocoondebug.ByCPU}
	var size struct {
		sync.Mutex
		width, height int
	}
	size.width, size.height = 80, 24
	ended := make(chan error, 1)
	go func() {
		ended <- v.show(t.Context(), func() (int, int) {
			size.Lock()
			defer size.Unlock()
			return size.width, size.height
		})
	}()
	wait := func(text string) {
		t.Helper()
		tasktest.Eventually(t, "the screen shows "+text, func() bool { return out.has(text) })
	}
	press := func(key string) {
		t.Helper()
		_, err := io.WriteString(keys, key)
		tasktest.Must(t, err)
	}
	wait(enterScreen)
	wait("no-bots")
	press("w")
	wait("sorted by wait")
	press("t")
	wait("sorted by throws")
	press("p")
	wait("paused")
	press("p")
	size.Lock()
	size.width, size.height = 20, 5
	size.Unlock()
	wait("cocoon  ")
	tasktest.Eventually(t, "the lines are short", func() bool { return out.has("…") })
	size.Lock()
	size.width, size.height = 0, 0 // a window that is being made
	size.Unlock()
	wait(eraseBelow)
	size.Lock()
	size.width, size.height = 80, 24
	size.Unlock()
	wait("LOOP")

	server.CloseClientConnections()
	server.Close()
	wait("no connection, trying again")
	again, err := net.Listen("tcp", address)
	tasktest.Must(t, err)
	second := &http.Server{Handler: handler}
	served := make(chan error, 1)
	go func() { served <- second.Serve(again) }()
	wait("q: quit")
	press(string(rune(ctrlC)))
	tasktest.Must(t, tasktest.Receive(t, "the end", ended))
	if !out.has(leaveScreen) {
		t.Error("the terminal is not as it was")
	}
	tasktest.Must(t, second.Close())
	<-served
	keys.Close()
}

// However large the terminal, the lines fit.
func TestTopLinesFit(t *testing.T) {
	s := &cocoondebug.Snapshot{Loops: make([]cocoondebug.Loop, 3), MoreNames: 7}
	for range 30 {
		s.Names = append(s.Names, cocoondebug.Name{Name: strings.Repeat("é", 100)})
		s.Policies = append(s.Policies, cocoondebug.Policy{Name: "p"})
		s.Decisions = append(s.Decisions, cocoondebug.Decision{Kind: "throw", Reason: "r"})
	}
	v := &top{sort: cocoondebug.ByCPU}
	for height := 0; height < 120; height += longtest.Count(1, 3) {
		for width := 0; width < 200; width += 20 {
			lines := v.lines(s, width, height)
			if len(lines) > height {
				t.Fatalf("%d lines in a height of %d", len(lines), height)
			}
			for _, line := range lines {
				if n := len([]rune(line)); n > width {
					t.Fatalf("%d characters in a width of %d: %q", n, width, line)
				}
			}
		}
	}
	if text := strings.Join(v.lines(s, 200, 60), "\n"); !strings.Contains(text, "NAME") || !strings.Contains(text, "POLICY") || !strings.Contains(text, "REASON") {
		t.Errorf("a part is missing:\n%s", text)
	}
}
