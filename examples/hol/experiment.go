package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// experiment runs every mode against the same database and the same schedule.
type experiment struct {
	load      load // without an address; modes without scans ignore the scan rate
	placement loadtest.Placement
	stderr    io.Writer // also for the children
}

// run fills a database in a temporary folder, runs the modes one after another, and removes the
// folder.
func (e experiment) run(ctx context.Context, modes []mode, show *display) (err error) {
	folder, err := os.MkdirTemp("", "cocoon-hol-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	show.console.Status("filling a bbolt database with %d records", e.load.Records)
	database := filepath.Join(folder, "records.db")
	if err := fill(database, e.load.Records); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	for _, m := range modes {
		o, err := e.measure(ctx, m, database, show)
		if err := m.Check(ctx, err, o.Errors, o.FirstErr); err != nil {
			return err
		}
		show.result(m, o)
	}
	return nil
}

// measure runs one mode: a server process, and a generator process that drives it.
func (e experiment) measure(ctx context.Context, m mode, database string, show *display) (o outcome, err error) {
	config := serverConfig{Mode: m.Name, Database: database}
	server, address, err := loadtest.StartServer(ctx, config, e.placement.Server, m.env, e.stderr)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	l := e.load
	l.Address = address
	if !m.scans {
		l.ScanRate = 0
	}
	o, o.Used, err = loadtest.Measure[progress, outcome](ctx, server, l, e.placement.Generator, e.stderr, func(p progress) { show.progress(m, l, p) })
	return o, err
}
