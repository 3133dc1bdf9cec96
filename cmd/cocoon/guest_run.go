package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// run runs the guest. args begins with the name of its file.
func (g *guestRun) run(ctx context.Context, wasm []byte, args []string, s streams) int {
	err := g.call(ctx, wasm, args, s)
	var exit *sys.ExitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return int(exit.ExitCode())
	}
	fmt.Fprintln(s.err, "cocoon guest run:", strings.TrimPrefix(err.Error(), "guest: "))
	if errors.Is(err, errGuestUse) {
		return exitUsage
	}
	return exitFound
}

var errGuestUse = errors.New("wrong use")

func (g *guestRun) call(ctx context.Context, wasm []byte, args []string, s streams) error {
	rt, err := cocoon.New(cocoon.Config{})
	if err != nil {
		return err
	}
	var c closing
	defer c.all()
	c.later(rt.Shutdown)
	m, err := guest.Compile(ctx, wasm, guest.Config{
		Name: "guest", Mechanism: g.mechanism, Loop: rt.Loop(), Slice: g.slice, Budget: g.fuel,
	})
	if err != nil {
		return err
	}
	c.later(m.Close)
	if g.timeout > 0 {
		late := fmt.Errorf("guest.%s ran longer than %v", g.invoke, g.timeout)
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, g.timeout, late)
		defer stop()
	}
	in, err := m.Instantiate(ctx, g.config.WithArgs(args...).WithFSConfig(g.files).
		WithStdin(s.in).WithStdout(s.out).WithStderr(s.err).WithSysWalltime().WithSysNanotime())
	if err != nil {
		return err
	}
	c.later(in.Shutdown)
	var types, resultTypes []api.ValueType
	if f := in.Module().ExportedFunction(g.invoke); f != nil {
		types, resultTypes = f.Definition().ParamTypes(), f.Definition().ResultTypes()
	}
	params, err := g.params(args[1:], types)
	if err != nil {
		return err
	}
	begin := time.Now()
	thread := in.Spawn(ctx, g.invoke, params...)
	results, err := endOf(ctx, thread)
	printResults(s.out, results, resultTypes)
	if g.stats {
		g.report(s.err, thread, time.Since(begin))
	}
	return err
}

// guestEndsWithin is how long a stopped guest may take to end. If it waits in the host, as
// in a read from a terminal, nothing ends the wait but the process.
const guestEndsWithin = 200 * time.Millisecond

// endOf waits until the thread has ended, and returns its results. If ctx ends, it does not wait
// for a thread that cannot be stopped.
func endOf(ctx context.Context, thread *guest.Thread) ([]uint64, error) {
	select {
	case <-thread.Done():
		return thread.Wait(context.WithoutCancel(ctx))
	case <-ctx.Done():
	}
	grace, stop := context.WithTimeoutCause(context.WithoutCancel(ctx), guestEndsWithin,
		fmt.Errorf("%w; the guest still waits in the host", context.Cause(ctx)))
	defer stop()
	return thread.Wait(grace)
}

// closing closes what was opened, the last first.
type closing []func(context.Context) error

func (c *closing) later(f func(context.Context) error) { *c = append(*c, f) }

func (c *closing) all() {
	ctx, stop := context.WithTimeout(context.Background(), guestEndsWithin)
	defer stop()
	for _, f := range slices.Backward(*c) {
		_ = f(ctx) // the process ends anyway
	}
}

// printResults prints a function's results by their types. The upper half of a result of 32 bits
// may hold anything.
func printResults(w io.Writer, results []uint64, types []api.ValueType) {
	for i, v := range results {
		switch types[i] {
		case api.ValueTypeI32:
			fmt.Fprintln(w, int32(v))
		case api.ValueTypeF32:
			fmt.Fprintln(w, api.DecodeF32(v))
		case api.ValueTypeF64:
			fmt.Fprintln(w, api.DecodeF64(v))
		default:
			fmt.Fprintln(w, int64(v))
		}
	}
}

// params returns the parameters of the function that -invoke names. A command gets the arguments
// as text, from WASI.
func (g *guestRun) params(args []string, types []api.ValueType) (params []uint64, err error) {
	if g.invoke == "_start" {
		return nil, nil
	}
	for i, arg := range args {
		t := api.ValueTypeI64
		if i < len(types) { // otherwise the call says that there are too many
			t = types[i]
		}
		v, err := paramOf(arg, t)
		if err != nil {
			return nil, fmt.Errorf("%w: the argument %q of %s is %w", errGuestUse, arg, g.invoke, err)
		}
		params = append(params, v)
	}
	return params, nil
}

// paramOf returns the parameter of that type that a text stands for. An integer may have a sign or
// not.
func paramOf(arg string, t api.ValueType) (uint64, error) {
	bits := 64
	switch t {
	case api.ValueTypeF32, api.ValueTypeF64:
		v, err := strconv.ParseFloat(arg, 64)
		if err != nil {
			return 0, errors.New("no number")
		}
		if t == api.ValueTypeF32 {
			return api.EncodeF32(float32(v)), nil
		}
		return api.EncodeF64(v), nil
	case api.ValueTypeI32:
		bits = 32
	}
	if v, err := strconv.ParseInt(arg, 0, bits); err == nil {
		return uint64(v) & (1<<bits - 1), nil
	}
	v, err := strconv.ParseUint(arg, 0, bits)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("no integer of %d bits", bits)
	case err != nil:
		return 0, errors.New("no integer")
	}
	return v, nil
}

func (g *guestRun) report(w io.Writer, t *guest.Thread, took time.Duration) {
	a := t.Account()
	fmt.Fprintf(w, "took %v, of it running %v, blocked %v", took.Round(time.Microsecond),
		a.Running.Round(time.Microsecond), a.Blocked.Round(time.Microsecond))
	if g.mechanism == guest.Fuel {
		fmt.Fprintf(w, ", fuel %d", t.FuelUsed())
	}
	fmt.Fprintln(w)
}
