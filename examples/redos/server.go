package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// service does the matches, the part in which plain net/http and Cocoon differ.
type service interface {
	match(ctx context.Context, re *regexp2.Regexp, input string) (verdict, error)
	close() error
}

// question is a user's request: does the pattern match somewhere in the input?
type question struct {
	Pattern string
	Options []string
	Input   string
}

// verdict is the response to a question.
type verdict struct {
	Matched bool
	Took    time.Duration // for the match alone, even if it was stopped
	Error   string        `json:",omitempty"` // why it was stopped
}

// find is the match itself.
func find(re *regexp2.Regexp, input string) (matched bool, err error) {
	m, err := re.FindStringMatch(input)
	return m != nil, err
}

// serverConfig is the configuration of a server process.
type serverConfig struct{ Mode string }

// serve is the body of the server process.
func serve(config serverConfig) error {
	mode, err := loadtest.ModeNamed(modes, config.Mode)
	if err != nil {
		return err
	}
	svc, err := mode.open()
	if err != nil {
		return err
	}
	return errors.Join(loadtest.Serve(handler(svc)), svc.close())
}

// maxQuestion limits a request's body: every byte of an input of maxInput may be escaped.
const maxQuestion = 6*maxInput + 1<<16

// handler is the HTTP side of a service.
func handler(svc service) http.Handler {
	known := newPatterns()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ping", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "pong")
	})
	mux.HandleFunc("POST /match", func(w http.ResponseWriter, r *http.Request) {
		var q question
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxQuestion)).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		re, err := known.compile(q.Pattern, q.Options)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		v, err := svc.match(r.Context(), re, q.Input)
		var preempted *cocoon.PreemptedError
		switch {
		case errors.As(err, &preempted):
			v.Error = err.Error()
			w.WriteHeader(http.StatusServiceUnavailable)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		json.NewEncoder(w).Encode(v)
	})
	return mux
}

// patterns keeps compiled patterns, so that questions with the same pattern use the same Regexp,
// even after one of its matches was stopped. It is safe for concurrent use.
type patterns struct {
	mu    sync.Mutex
	known map[string]*regexp2.Regexp
}

// maxPatterns limits how many patterns users can make the server keep.
const maxPatterns = 1000

func newPatterns() *patterns { return &patterns{known: map[string]*regexp2.Regexp{}} }

func (p *patterns) compile(pattern string, options []string) (*regexp2.Regexp, error) {
	key := strings.Join(options, ",") + "/" + pattern
	p.mu.Lock()
	re := p.known[key]
	p.mu.Unlock()
	if re != nil {
		return re, nil
	}
	re, err := compile(pattern, options)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.known[key]; other != nil {
		return other, nil
	}
	if len(p.known) == maxPatterns {
		clear(p.known)
	}
	p.known[key] = re
	return re, nil
}
