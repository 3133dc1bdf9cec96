package main

import (
	"context"
	"errors"
	"io"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// experiment runs every mode with the same schedule of pings and attacks.
type experiment struct {
	load      load // without the fields that differ between modes
	placement loadtest.Placement
	stderr    io.Writer // also for the children
}

func (e experiment) run(ctx context.Context, modes []mode, show *display) error {
	for _, m := range modes {
		o, err := e.measure(ctx, m, show)
		if err := m.Check(ctx, err, o.Errors, o.FirstErr); err != nil {
			return err
		}
		show.result(m, o)
	}
	return nil
}

// measure runs one mode: a server process, and a generator process that attacks it. At the end it
// kills the server, which may be in an endless match.
func (e experiment) measure(ctx context.Context, m mode, show *display) (o outcome, err error) {
	server, address, err := loadtest.StartServer(ctx, serverConfig{m.Name}, e.placement.Server, nil, e.stderr)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, server.Kill()) }()
	l := e.load
	l.Address, l.Attacks = address, m.attacks
	o, o.Used, err = loadtest.Measure[progress, outcome](ctx, server, l, e.placement.Generator, e.stderr, func(p progress) { show.progress(m, l, p) })
	return o, err
}
