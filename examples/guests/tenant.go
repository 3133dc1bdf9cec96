package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest"
)

// tenant runs one script again and again, from several clients. A client has an instance of its
// own, and a new one after a throw.
type tenant struct {
	name     string
	share    int
	language *language
	module   *guest.Module
	loop     *cocoon.Loop
	task     string // the name of its tasks
	script   string
	want     int64
	clients  int
	pause    time.Duration // between two scripts

	mu        sync.Mutex
	running   time.Duration // time in slots
	latencies []time.Duration
	throws    int
	err       error
}

// work is a client. It returns when ctx ends.
func (t *tenant) work(ctx context.Context) error {
	ctx = cocoon.WithLabel(ctx, "tenant", t.name)
	var in *guest.Instance
	defer func() {
		if in != nil {
			in.Shutdown(context.WithoutCancel(ctx))
		}
	}()
	for ctx.Err() == nil {
		if in == nil && t.language.command == nil {
			var err error
			if in, err = t.instance(ctx); err != nil {
				return err
			}
		}
		var throw *cocoon.PreemptedError
		switch err := t.once(ctx, in); {
		case errors.As(err, &throw):
			in = nil // the throw has closed it
		case err != nil:
			return err
		}
		select {
		case <-time.After(t.pause):
		case <-ctx.Done():
		}
	}
	return nil
}

func (t *tenant) instance(ctx context.Context) (*guest.Instance, error) {
	in, err := t.module.Instantiate(ctx, nil)
	if err == nil && t.language.open != nil {
		err = t.language.open(ctx, in)
	}
	return in, err
}

// once runs the script as a task.
func (t *tenant) once(ctx context.Context, in *guest.Instance) error {
	begin := time.Now()
	var account cocoon.Account
	var got int64
	err := t.loop.Run(ctx, t.task, func(ctx context.Context) (err error) {
		defer func() { account = cocoon.TaskOf(ctx).Account() }()
		if c := t.language.command; c != nil {
			got, err = c(ctx, t.module, t.script)
		} else {
			got, err = t.language.eval(ctx, in, t.script)
		}
		return err
	})
	took := time.Since(begin)
	if err == nil && got != t.want {
		return fmt.Errorf("a script returned %d; want %d", got, t.want)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running += account.Running
	var throw *cocoon.PreemptedError
	switch {
	case err == nil:
		t.latencies = append(t.latencies, took)
	case errors.As(err, &throw) && ctx.Err() == nil:
		t.throws++
	}
	return err
}

func (t *tenant) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = errors.Join(t.err, err)
}

// quantile returns a quantile of the latencies.
func (t *tenant) quantile(q float64) time.Duration {
	if len(t.latencies) == 0 {
		return 0
	}
	slices.Sort(t.latencies)
	return t.latencies[int(q*float64(len(t.latencies)-1))]
}
