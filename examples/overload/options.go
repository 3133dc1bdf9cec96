package main

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

const about = `Overload shows what a Go server does with twice the load that it can bear.

A net/http server does the work of critical, normal and batch requests, of a paying
and a free tenant; a batch request takes 10 ms, or 200 ms. A generator in another
process sends them at times chosen in advance: a normal load first; then, while a
request of 200 ms runs, a burst, and after it more than the server can do. The
modes, in turn:

`

const after = `
The figures are medians of the rounds, and count only the surge. "goodput" counts the
correct responses within 100 ms. "critical p99" counts a critical request that was refused, or
came too late, as 1 s. "first action" is the time from the beginning of the surge to
the first refusal, stop or alarm. Handlers are the same in all modes, have deadlines
(100 ms, a request of 200 ms one second), and look at them.

Usage: go run -C examples/overload . [flags]

`

// options are the options of the command line.
type options struct {
	*loadtest.Command[mode]

	rounds   int
	warmUp   time.Duration
	duration time.Duration
	surge    float64 // as a multiple of the capacity
	burst    int
	page     string
	folder   string
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	o.Command = loadtest.NewCommand("overload", about, after, modes, stderr)
	flags := o.Flags
	flags.IntVar(&o.rounds, "rounds", 3, "how often each mode runs")
	flags.DurationVar(&o.warmUp, "warm-up", time.Second, "how long the normal load lasts")
	flags.DurationVar(&o.duration, "duration", 2500*time.Millisecond, "how long the surge lasts")
	flags.Float64Var(&o.surge, "surge", 2, "load of the surge: 1 is all that the server can do")
	flags.IntVar(&o.burst, "burst", 32, "how many requests come at once when the surge begins")
	flags.StringVar(&o.page, "page", "", "`address` of the page and the metrics of the mode cocoon, such as :8080, which is on this machine only; the server responds there, too")
	flags.StringVar(&o.folder, "folder", "", "a `folder` for the operators of the mode cocoon: it gets policies.yaml, which the server loads again when it changes, refusals.log, and flights after stalls")
	if err := o.Parse(args); err != nil {
		return o, err
	}
	if o.page != "" {
		if o.page, err = pageAddress(o.page); err != nil {
			return o, err
		}
		o.Notes = append(o.Notes, fmt.Sprintf("while the mode cocoon runs, its page is at http://%s%s", o.page, pagePath))
	}
	if o.folder != "" {
		if o.folder, err = filepath.Abs(o.folder); err != nil {
			return o, fmt.Errorf("-folder: %w", err)
		}
	}
	switch {
	case o.rounds < 1 || o.rounds > 1000:
		return o, fmt.Errorf("-rounds %d; want 1 to 1000", o.rounds)
	case o.warmUp < 100*time.Millisecond || o.warmUp > time.Hour:
		return o, fmt.Errorf("-warm-up %v; want 100ms to 1h", o.warmUp)
	case o.duration < 100*time.Millisecond || o.duration > time.Hour:
		return o, fmt.Errorf("-duration %v; want 100ms to 1h", o.duration)
	case !(o.surge >= 0.1 && o.surge <= 100):
		return o, fmt.Errorf("-surge %v; want 0.1 to 100", o.surge)
	case o.burst < 0 || o.burst > 10_000:
		return o, fmt.Errorf("-burst %d; want 0 to 10000", o.burst)
	}
	return o, nil
}
