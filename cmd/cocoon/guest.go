package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/cocoon-go/cocoon/guest"
	"github.com/cocoon-go/cocoon/guest/meter"
	"github.com/tetratelabs/wazero"
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

// guestLeastSlice is the shortest guest.Config.Slice. Package guest does not promise it, so a test
// compares the two.
const guestLeastSlice = 20 * time.Microsecond

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
	f.DurationVar(&g.slice, "slice", 0, "how long the guest runs before other tasks go first: 20us or more; 0 means 10ms")
	f.Int64Var(&g.fuel, "fuel", 0, "stop the guest after `N` units of fuel; 0 means never. Implies -mechanism fuel")
	f.DurationVar(&g.timeout, "timeout", 0, "stop the guest after this time, waits included; 0 means never")
	f.StringVar(&g.invoke, "invoke", "_start", "the exported `function` to call; its arguments are numbers")
	f.BoolVar(&g.stats, "stats", false, "print what the guest used, on standard error")
	f.Func("dir", "let the guest use a folder, as `HOST[:GUEST]`; may be repeated", func(v string) error {
		host, in, found := strings.Cut(v, ":")
		if !found {
			in = host
		}
		if st, err := os.Stat(host); err != nil || !st.IsDir() {
			return fmt.Errorf("%s is not a folder", host)
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
	if g.slice > 0 && g.slice < guestLeastSlice {
		fmt.Fprintf(s.err, "cocoon guest run: -slice is %v; want at least %v, 0 for the default, or less for none\n", g.slice, guestLeastSlice)
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
