package main

import (
	"context"
	"errors"
	"io"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// experiment runs the modes in turn, several times, with the same schedule in each round.
type experiment struct {
	load      load // without an address and a seed
	placement loadtest.Placement
	page      string    // address of the page, or ""
	folder    string    // for operators, or ""
	stderr    io.Writer // also for the children
}

// calibrate measures how many hashes a piece of work has on the server's cores.
func (e experiment) calibrate(ctx context.Context) (hashes int, err error) {
	child, err := loadtest.Start(ctx, "calibrate", struct{}{}, e.placement.Server, nil, e.stderr)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, child.Stop()) }()
	return hashes, child.Receive(&hashes)
}

func (e experiment) run(ctx context.Context, modes []mode, rounds int, show *display) error {
	runs := make([][]outcome, len(modes))
	for round := 1; round <= rounds; round++ {
		e.load.Seed = uint64(round)
		for i, m := range modes {
			o, err := e.measure(ctx, m, func(p progress) { show.progress(m, round, rounds, e.load, p) })
			if err := m.Check(ctx, err, o.Errors, o.FirstErr); err != nil {
				return err
			}
			runs[i] = append(runs[i], o)
		}
	}
	for i, m := range modes {
		show.result(m, sumUp(runs[i], e.load.Duration))
	}
	return nil
}

// measure runs a mode once: a server process, and a generator process that drives it.
func (e experiment) measure(ctx context.Context, m mode, show func(progress)) (o outcome, err error) {
	config := serverConfig{Mode: m.Name, Hashes: e.load.Hashes, Page: e.page, Folder: e.folder}
	server, address, err := loadtest.StartServer(ctx, config, e.placement.Server, []string{m.env(e.placement.ServerCores())}, e.stderr)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	l := e.load
	l.Address = address
	o, o.Used, err = loadtest.Measure[progress, outcome](ctx, server, l, e.placement.Generator, e.stderr, show)
	return o, err
}
