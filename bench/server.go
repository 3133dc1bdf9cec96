package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// server is a server process of this program that reports its processor usage.
type server struct {
	child   *loadtest.Child
	address string
}

// startServer starts a role of this program on the given cores (nil: on any).
func startServer(ctx context.Context, role string, config any, cores []int, stderr io.Writer) (*server, error) {
	child, err := loadtest.Start(ctx, role, config, cores, nil, stderr)
	if err != nil {
		return nil, err
	}
	address, err := child.Announced()
	if err != nil {
		return nil, err
	}
	return &server{child, address}, nil
}

// The figures of a server under load.
const (
	perSecond      = iota
	serverTime     // µs of processor time a response, without the client's
	serverSwitches // context switches a response, of all threads of the server
	clientTime
)

// measure measures a load, which returns the number of responses.
func (s *server) measure(load func() (answers int64, err error)) (figures, error) {
	before, err := s.child.Usage()
	if err != nil {
		return nil, err
	}
	own, begin := loadtest.CurrentUsage(), time.Now()
	answers, err := load()
	if err != nil {
		return nil, err
	}
	took, mine := time.Since(begin), loadtest.CurrentUsage().Since(own)
	after, err := s.child.Usage()
	if err != nil {
		return nil, err
	}
	n, used := max(1, float64(answers)), after.Since(before)
	return figures{n / took.Seconds(), micros(used.CPU) / n, float64(used.Switches) / n, micros(mine.CPU) / n}, nil
}

// drive runs the given number of clients concurrently for a span. ask returns the number of its
// responses.
func (s *server) drive(clients int, span time.Duration, ask func(client int, end time.Time) (int64, error)) (figures, error) {
	return s.measure(func() (int64, error) {
		var all sync.WaitGroup
		var answers atomic.Int64
		errs := make([]error, clients)
		end := time.Now().Add(span)
		for i := range clients {
			all.Go(func() {
				n, err := ask(i, end)
				answers.Add(n)
				errs[i] = err
			})
		}
		all.Wait()
		return answers.Load(), errors.Join(errs...)
	})
}

// apart returns the cores for the servers of a section, and moves this process, their client, to
// the remaining cores until release is called. If the section's default number of cores is all
// there are, servers and client share them.
func (r *report) apart() (servers []int, release func() error, err error) {
	if r.otherCores() == 0 && r.cores == everyCore {
		return nil, func() error { return nil }, nil
	}
	p, err := r.place()
	if err != nil {
		return nil, nil, err
	}
	release, err = loadtest.Confine(p.Generator)
	return p.Server, release, err
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
