package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// server is a process of this program that serves, and tells how much processor time it has used.
type server struct {
	child   *loadtest.Child
	address string
}

// startServer starts a role of this program on some cores (nil: on any).
func startServer(ctx context.Context, role, kind string, cores []int, stderr io.Writer) (*server, error) {
	child, err := loadtest.Start(ctx, role, kind, cores, nil, stderr)
	if err != nil {
		return nil, err
	}
	s := &server{child: child}
	if err := child.Receive(&s.address); err != nil {
		return nil, errors.Join(err, child.Stop())
	}
	return s, nil
}

// attend is what a server process does beside serving: it prints the listener's address, answers each message on its standard
// input by the processor time that it has used, in seconds, and calls end at the end of its input.
func attend(listener net.Listener, end func()) error {
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(listener.Addr().String()); err != nil {
		return err
	}
	go func() {
		defer end()
		for in := json.NewDecoder(os.Stdin); ; {
			var question struct{}
			if in.Decode(&question) != nil || out.Encode(processorTime()) != nil {
				return
			}
		}
	}()
	return nil
}

// used returns the processor time of the process so far, in seconds.
func (s *server) used() (seconds float64, err error) {
	if err := s.child.Send(struct{}{}); err != nil {
		return 0, err
	}
	return seconds, s.child.Receive(&seconds)
}

// The figures of a server under load.
const (
	perSecond  = iota
	serverTime // µs of processor time each
	clientTime
)

// drive has so many clients ask at once for a span. ask returns how many answers it got.
func (s *server) drive(clients int, span time.Duration, ask func(client int, end time.Time) (int64, error)) (figures, error) {
	before, err := s.used()
	if err != nil {
		return nil, err
	}
	own, begin := processorTime(), time.Now()
	var all sync.WaitGroup
	var answers atomic.Int64
	errs := make([]error, clients)
	for i := range clients {
		all.Go(func() {
			n, err := ask(i, begin.Add(span))
			answers.Add(n)
			errs[i] = err
		})
	}
	all.Wait()
	took, mine := time.Since(begin), processorTime()-own
	after, err := s.used()
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	n := float64(answers.Load())
	return figures{n / took.Seconds(), (after - before) / n * 1e6, mine / n * 1e6}, nil
}

// apart returns the cores for the servers of a section, and moves this process, their client, to the others until release is
// called. With the section's own number of cores, which are all, they share them.
func (r *report) apart() (servers []int, release func() error, err error) {
	if r.otherCores() == 0 {
		return nil, func() error { return nil }, nil
	}
	p, err := r.place()
	if err != nil {
		return nil, nil, err
	}
	release, err = loadtest.Confine(p.Generator)
	return p.Server, release, err
}
