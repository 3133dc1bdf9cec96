package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest"
	"github.com/tetratelabs/wazero"
)

//go:embed policies.yaml
var policies string

// mode is how the experiment runs.
type mode struct{ name, document string }

var modes = []mode{{"without policies", ""}, {"with policies.yaml", policies}}

// experiment is one run.
type experiment struct {
	mode     mode
	language *language
	silver   *language // of the tenant silver; nil: language
	duration time.Duration
}

const (
	clients = 4 // of each tenant
	pause   = 25 * time.Millisecond

	// The greatest wait under which the tenants' order holds. The default of 100 ms is not much
	// more than a script's 60 ms: every second script would start out of order.
	maxBypass = 2 * time.Second
)

// run makes the load for the duration, and returns what came of it.
func (e experiment) run(ctx context.Context) ([]*tenant, error) {
	rt, err := cocoon.New(cocoon.Config{Slots: slots, MaxBypass: maxBypass, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	defer rt.Shutdown(context.WithoutCancel(ctx))
	if e.mode.document != "" {
		if err := rt.LoadPolicies(strings.NewReader(e.mode.document)); err != nil {
			return nil, err
		}
	}
	script, err := e.language.compile(ctx, "script", rt)
	if err != nil {
		return nil, err
	}
	defer script.Close(context.WithoutCancel(ctx))
	urgent, err := e.language.compile(ctx, "urgent", rt)
	if err != nil {
		return nil, err
	}
	defer urgent.Close(context.WithoutCancel(ctx))
	tenants := e.tenants(script, urgent)
	if e.silver != nil {
		silver, err := e.silver.compile(ctx, "script", rt)
		if err != nil {
			return nil, err
		}
		defer silver.Close(context.WithoutCancel(ctx))
		t := tenants[1]
		t.language, t.module, t.script, t.want = e.silver, silver, e.silver.scripts.primes, e.silver.want
	}
	for _, t := range tenants {
		t.loop, t.task = rt.Loop(), "script.run"
		if t.module == urgent {
			t.task = "urgent.run"
		}
	}
	return tenants, e.load(ctx, tenants)
}

// compile compiles the interpreter, with a runtime of its own.
func (l *language) compile(ctx context.Context, name string, rt *cocoon.Runtime) (*guest.Module, error) {
	c := guest.Config{Name: name, Loop: rt.Loop(), Slice: 2 * time.Millisecond}
	if l.provide != nil {
		c.Runtime = wazero.NewRuntime(ctx)
		if err := l.provide(ctx, c.Runtime, l.wasm); err != nil {
			return nil, err
		}
	}
	return guest.Compile(ctx, l.wasm, c)
}

func (e experiment) tenants(script, urgent *guest.Module) []*tenant {
	s := e.language.scripts
	return []*tenant{
		{name: "gold", share: 3, language: e.language, module: script, script: s.primes, want: e.language.want, clients: clients},
		{name: "silver", share: 2, language: e.language, module: script, script: s.primes, want: e.language.want, clients: clients},
		{name: "mallory", share: 1, language: e.language, module: script, script: s.endless, clients: clients},
		{name: "urgent", language: e.language, module: urgent, script: s.urgent, want: answer, clients: 1, pause: pause},
	}
}

// load lets all tenants work at once.
func (e experiment) load(ctx context.Context, tenants []*tenant) error {
	over, cancel := context.WithTimeout(ctx, e.duration)
	defer cancel()
	var wait sync.WaitGroup
	for _, t := range tenants {
		for range t.clients {
			wait.Add(1)
			go func() {
				defer wait.Done()
				if err := t.work(over); err != nil && over.Err() == nil {
					t.fail(fmt.Errorf("%s: %w", t.name, err))
					cancel()
				}
			}()
		}
	}
	wait.Wait()
	errs := []error{ctx.Err()}
	for _, t := range tenants {
		errs = append(errs, t.err)
	}
	return errors.Join(errs...)
}
