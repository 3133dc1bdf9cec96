package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest"
	"github.com/cocoon-go/cocoon/guest/meter"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

const guestUsage = `usage: cocoon guest run [flags] FILE.wasm [ARGUMENTS]
       cocoon guest meter [-mechanism epoch|fuel] IN.wasm OUT.wasm

run runs a WebAssembly guest as a preemptible task: a WASI command, or one of its functions with
-invoke. Its exit code is the guest's; 1 if the guest was stopped or trapped, 2 for wrong use.
meter writes the guest with the safe points that run gives it. docs/guests.md explains both.

flags of run:
`

func runGuest(args []string, s streams) int {
	if len(args) == 0 {
		fmt.Fprintln(s.err, "cocoon guest: say run or meter; run cocoon guest -h for help")
		return exitUsage
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		new(guestRun).flags(s.out).Usage()
		return exitOK
	case "run":
		return runGuestRun(args[1:], s)
	case "meter":
		return runGuestMeter(args[1:], s)
	}
	fmt.Fprintf(s.err, "cocoon guest: %q is none of run, meter; run cocoon guest -h for help\n", args[0])
	return exitUsage
}

// guestRun are the flags of cocoon guest run.
type guestRun struct {
	mechanism meter.Mechanism
	slice     time.Duration
	timeout   time.Duration
	fuel      int64
	invoke    string
	stats     bool
	config    wazero.ModuleConfig
	files     wazero.FSConfig
}

func (g *guestRun) flags(w io.Writer) *flag.FlagSet {
	f := flag.NewFlagSet("cocoon guest", flag.ContinueOnError)
	f.SetOutput(w)
	f.Usage = func() { fmt.Fprint(w, guestUsage); f.PrintDefaults() }
	g.config, g.files = wazero.NewModuleConfig().WithName(""), wazero.NewFSConfig()
	f.Func("mechanism", "how the guest is charged: `epoch` (the default) or fuel", func(v string) (err error) {
		g.mechanism, err = mechanismOf(v)
		return err
	})
	f.DurationVar(&g.slice, "slice", 0, "how long the guest runs before other tasks go first; 0 means 10ms")
	f.Int64Var(&g.fuel, "fuel", 0, "stop the guest after `N` units of fuel; 0 means never. Implies -mechanism fuel")
	f.DurationVar(&g.timeout, "timeout", 0, "stop the guest after this time; 0 means never")
	f.StringVar(&g.invoke, "invoke", "_start", "the exported `function` to call; its arguments are integers")
	f.BoolVar(&g.stats, "stats", false, "print what the guest used, on standard error")
	f.Func("dir", "let the guest use a folder, as `HOST[:GUEST]`; may be repeated", func(v string) error {
		host, in, found := strings.Cut(v, ":")
		if !found {
			in = host
		}
		if st, err := os.Stat(host); err != nil || !st.IsDir() {
			return fmt.Errorf("%s is no folder", host)
		}
		g.files = g.files.WithDirMount(host, in)
		return nil
	})
	f.Func("env", "set a variable of the guest's environment, as `NAME=VALUE`; may be repeated", func(v string) error {
		name, value, found := strings.Cut(v, "=")
		if !found || name == "" {
			return fmt.Errorf("want NAME=VALUE")
		}
		g.config = g.config.WithEnv(name, value)
		return nil
	})
	return f
}

func mechanismOf(v string) (meter.Mechanism, error) {
	switch v {
	case "epoch":
		return guest.Epoch, nil
	case "fuel":
		return guest.Fuel, nil
	}
	return 0, fmt.Errorf("want epoch or fuel")
}

func runGuestRun(args []string, s streams) int {
	g := guestRun{mechanism: guest.Epoch}
	f := g.flags(s.err)
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitOK
	} else if err != nil {
		return exitUsage
	}
	if f.NArg() == 0 {
		fmt.Fprintln(s.err, "cocoon guest run: name the guest's file; run cocoon guest -h for help")
		return exitUsage
	}
	if g.fuel < 0 || g.timeout < 0 {
		fmt.Fprintf(s.err, "cocoon guest run: -fuel is %d and -timeout %v; want 0 or more\n", g.fuel, g.timeout)
		return exitUsage
	}
	if g.fuel > 0 {
		g.mechanism = guest.Fuel
	}
	wasm, err := os.ReadFile(f.Arg(0))
	if err != nil {
		fmt.Fprintln(s.err, "cocoon guest run:", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return g.run(ctx, wasm, f.Args(), s)
}

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
	params, err := g.params(args[1:])
	if err != nil {
		return err
	}
	rt, err := cocoon.New(cocoon.Config{})
	if err != nil {
		return err
	}
	defer rt.Shutdown(context.WithoutCancel(ctx))
	m, err := guest.Compile(ctx, wasm, guest.Config{
		Name: "guest", Mechanism: g.mechanism, Loop: rt.Loop(), Slice: g.slice, Budget: g.fuel,
	})
	if err != nil {
		return err
	}
	defer m.Close(context.WithoutCancel(ctx))
	if g.timeout > 0 {
		limit := cocoon.TimeLimit{Func: "guest." + g.invoke, Limit: g.timeout}
		if _, err := rt.RegisterTimeLimit(limit); err != nil {
			return fmt.Errorf("%w: %w", errGuestUse, err)
		}
	}
	in, err := m.Instantiate(ctx, g.config.WithArgs(args...).WithFSConfig(g.files).
		WithStdin(s.in).WithStdout(s.out).WithStderr(s.err).WithSysWalltime().WithSysNanotime())
	if err != nil {
		return err
	}
	defer in.Shutdown(context.WithoutCancel(ctx))
	begin := time.Now()
	thread := in.Spawn(ctx, g.invoke, params...)
	results, err := thread.Wait(context.WithoutCancel(ctx))
	if f := in.Module().ExportedFunction(g.invoke); f != nil {
		printResults(s.out, results, f.Definition().ResultTypes())
	}
	if g.stats {
		g.report(s.err, thread, time.Since(begin))
	}
	return err
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
func (g *guestRun) params(args []string) (params []uint64, err error) {
	if g.invoke == "_start" {
		return nil, nil
	}
	for _, arg := range args {
		v, err := strconv.ParseInt(arg, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: the argument %q of %s is no integer", errGuestUse, arg, g.invoke)
		}
		params = append(params, uint64(v))
	}
	return params, nil
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

func runGuestMeter(args []string, s streams) int {
	f := flag.NewFlagSet("cocoon guest meter", flag.ContinueOnError)
	f.SetOutput(s.err)
	f.Usage = func() { fmt.Fprint(s.err, strings.TrimSuffix(guestUsage, "\nflags of run:\n")) }
	mechanism := guest.Epoch
	f.Func("mechanism", "epoch or fuel", func(v string) (err error) {
		mechanism, err = mechanismOf(v)
		return err
	})
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitOK
	} else if err != nil {
		return exitUsage
	}
	if f.NArg() != 2 {
		fmt.Fprintln(s.err, "cocoon guest meter: name two files, IN.wasm and OUT.wasm; run cocoon guest -h for help")
		return exitUsage
	}
	wasm, err := os.ReadFile(f.Arg(0))
	if err != nil {
		fmt.Fprintln(s.err, "cocoon guest meter:", err)
		return exitUsage
	}
	metered, err := meter.Rewrite(wasm, meter.Config{Mechanism: mechanism})
	if err != nil {
		fmt.Fprintf(s.err, "cocoon guest meter: %s: %v\n", f.Arg(0), err)
		return exitFound
	}
	if err := os.WriteFile(f.Arg(1), metered, 0o644); err != nil {
		fmt.Fprintln(s.err, "cocoon guest meter:", err)
		return exitUsage
	}
	fmt.Fprintf(s.out, "%s: %d bytes, %s: %d bytes\n", f.Arg(0), len(wasm), f.Arg(1), len(metered))
	return exitOK
}
