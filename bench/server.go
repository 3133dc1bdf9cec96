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

// server is a process of this program that serves, and tells what it has used of the processors.
type server struct {
	child   *loadtest.Child
	address string
}

// startServer starts a role of this program on some cores (nil: on any).
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
	serverTime     // µs of processor time an answer, the client's part left out
	serverSwitches // context switches an answer, of all threads of the server
	clientTime
)

// measure measures a load, which returns how many answers there were.
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

// drive has so many clients ask at once for a span. ask returns how many answers it got.
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
// the others until release is called. Where the section's own number of cores is all there are,
// they share them.
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
