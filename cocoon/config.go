package cocoon

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"
)

// Config is a runtime's set-up. The zero Config has sound defaults; a negative duration or -1 turns
// the feature off where its comment says so. A duration that no process lives for, such as
// math.MaxInt64, means never.
type Config struct {
	// Slots is how many tasks of the default loop run at once. 0: GOMAXPROCS, as the application
	// has it; where that changes, as Go does when a container's processor limit is moved, the loop
	// follows within seconds of a task having to wait.
	Slots int

	// MaxQueue bounds the tasks of the default loop that wait for their first slot; above it Run
	// and Go answer ErrOverloaded. 0: no bound.
	MaxQueue int

	// MaxStarted bounds the tasks of the default loop that have started and not ended (running,
	// blocked or suspended); above it new tasks wait. A task that runs another inside of it counts
	// beside it, so that tasks that all do may wait for each other when the bound is that low. 0:
	// no bound.
	MaxStarted int

	// MaxBypass bounds how long a suspended task is passed over by others. It is then resumed, and
	// runs undisturbed for a quarter of that time. 0: 100 ms; negative: no bound.
	MaxBypass time.Duration

	// StallAfter is how long a task may run in a slot for which others wait without passing a safe
	// point; then the slot is lent to a waiting task, and the stall is reported. The slot of a task
	// that waits without Block is lent at once, and that is no stall. 0: 20 ms; negative: never. It
	// is at least 100 µs.
	StallAfter time.Duration

	// Breath is after what time the kernel may take the core from a task that runs long, for an
	// instant, so that the threads that poll the network and the clock get there: the task gives
	// its core away that often, at a SafePoint, and on Linux 6.12 and later the kernel is asked for
	// time slices of three times as long, for all threads of the process, as long as there are such
	// tasks. Programs that the process starts do not inherit them. 0: 100 µs; negative, or more
	// than a second: the kernel's own ways. Systems other than Linux have only those.
	Breath time.Duration

	// Gaps is how often each running task is asked for a safe point, to measure how long it takes,
	// and to find out where it is meanwhile: see Runtime.Gaps. It is for finding gaps, not for
	// production: the timer ticks as often, each task begins 0.3 µs later, and where one is silent
	// a profile of all goroutines is taken, for a tenth of a core's time at most, or two thirds
	// with 100,000 goroutines. 0: not measured, unless the environment has COCOON_GAPS, as under
	// cocoon gaps -run, which means 1 ms; negative: not measured. It is at least 10 µs.
	Gaps time.Duration

	// KeepProcs leaves GOMAXPROCS alone. By default it is raised by SparePs while a task runs long,
	// and put back a second or more afterwards. With KeepProcs connections and time policies wait
	// for a long task as they do in plain Go, 10 ms and more, unless GOMAXPROCS has room for the
	// slots and the spares anyway: so set it where the application sees to that (docs/design.md,
	// Processors).
	KeepProcs bool

	// Seed is where the draws of policies' chance(p) begin: from the same seed, a policy that is
	// evaluated as often on a loop has the same draws. 0: one is drawn when the runtime is made,
	// which Stats.Seed tells.
	Seed uint64

	// MaxFailures is how many evaluations of a policy may err in a row before it is switched off.
	// 0: 8.
	MaxFailures int

	// QuietThrows leaves out the log line, at level Warn and at most one a second for a policy,
	// that says which task a policy has thrown into or refused, why, and where.
	QuietThrows bool

	// Logger gets stalls, policy errors, throws, what observing policies would have done, and
	// panics of tasks. nil: slog.Default(), as it is when the line is logged.
	//
	// It is called on a goroutine of its own, one line after the other, soon after the event and
	// with the event's time: a Logger that is slow or blocks holds up no task. 256 lines wait at
	// most, and those that come then are left out; a line says how many. Where the Logger panics
	// the line is lost, and the first time is told on standard error. Stats.LinesLost counts both.
	// Shutdown waits up to a second for the last lines; a program that ends without it may lose
	// them.
	Logger *slog.Logger

	wall       func() time.Time // the system's clock, or a test's
	gapsFolder string           // of COCOON_GAPS, if it counts
	follows    bool             // Slots was 0
}

// LoopConfig is the set-up of one more loop; its fields mean what Config's mean.
type LoopConfig struct {
	Name       string // unique in the runtime
	Slots      int    // 0: 1, the classic event loop
	MaxQueue   int
	MaxStarted int

	// Exclusive loops never lend a slot: their tasks stay atomic towards each other between safe
	// points, even when one stalls, or waits without Block and holds up the loop. A loop with one
	// slot lends it after StallAfter; a loop with more slots lends that of a task that waits
	// without Block at once, and the task then runs beside others until its next safe point.
	Exclusive bool
}

const (
	defaultMaxBypass   = 100 * time.Millisecond
	defaultStallAfter  = 20 * time.Millisecond
	defaultBreath      = 100 * time.Microsecond
	defaultGaps        = time.Millisecond
	defaultMaxFailures = 8
	maxSlots           = 1 << 14

	// endless is what longer durations count as, about 73 years: it comes after any time of the
	// process, and can be added to one.
	endless = time.Duration(1) << 61

	// Shorter ones would have the timer run without end.
	leastStallAfter = 100 * time.Microsecond
	leastGaps       = 10 * time.Microsecond

	// longestBreath is far beyond any time slice: a task that gives its core away that seldom need
	// not.
	longestBreath = time.Second
)

// complete fills in the defaults and refuses what makes no sense.
func (c Config) complete() (Config, error) {
	if err := checkBounds("Config", c.Slots, c.MaxQueue, c.MaxStarted); err != nil {
		return c, err
	}
	if c.MaxFailures < 0 {
		return c, fmt.Errorf("cocoon: Config.MaxFailures is %d; want 1 or more, or 0 for %d", c.MaxFailures, defaultMaxFailures)
	}
	if c.wall == nil {
		c.wall = time.Now
	}
	for c.Seed == 0 {
		c.Seed = rand.Uint64()
	}
	if c.Slots == 0 {
		c.Slots, c.follows = min(ownProcs(), maxSlots), true
	}
	orDefault(&c.MaxBypass, defaultMaxBypass)
	orDefault(&c.StallAfter, defaultStallAfter)
	orDefault(&c.Breath, defaultBreath)
	if folder := os.Getenv(gapsVariable); folder != "" && c.Gaps == 0 {
		c.Gaps, c.gapsFolder = defaultGaps, folder
	}
	clamp(&c.MaxBypass, 0)
	clamp(&c.StallAfter, leastStallAfter)
	clamp(&c.Gaps, leastGaps)
	if c.Breath > longestBreath {
		c.Breath = -1
	}
	orDefault(&c.MaxFailures, defaultMaxFailures)
	return c, nil
}

func (c LoopConfig) complete() (LoopConfig, error) {
	if c.Name == "" {
		return c, fmt.Errorf("cocoon: a loop needs a name: set LoopConfig.Name")
	}
	if err := checkBounds("LoopConfig", c.Slots, c.MaxQueue, c.MaxStarted); err != nil {
		return c, err
	}
	orDefault(&c.Slots, 1)
	return c, nil
}

func checkBounds(in string, slots, queue, started int) error {
	switch {
	case slots < 0 || slots > maxSlots:
		return fmt.Errorf("cocoon: %s.Slots is %d; want 1 to %d, or 0 for the default", in, slots, maxSlots)
	case queue < 0:
		return fmt.Errorf("cocoon: %s.MaxQueue is %d; want 1 or more, or 0 for no bound", in, queue)
	case started < 0:
		return fmt.Errorf("cocoon: %s.MaxStarted is %d; want 1 or more, or 0 for no bound", in, started)
	}
	return nil
}

func orDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// clamp brings a duration that is not off between the least that makes sense and endless.
func clamp(d *time.Duration, least time.Duration) {
	if *d > 0 {
		*d = min(max(*d, least), endless)
	}
}
