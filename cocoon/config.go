package cocoon

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/policy"
)

// Config configures a runtime. The zero Config has sound defaults. A negative duration or -1 turns
// a feature off where the field's comment says so. A duration longer than any process runs, such as
// math.MaxInt64, means never.
type Config struct {
	// Slots is how many tasks of the default loop run at once. 0 means GOMAXPROCS as the
	// application set it. If GOMAXPROCS changes, as it does when the processor limit of the
	// container is changed, the loop follows within seconds of a task having to wait.
	Slots int

	// MaxQueue bounds the number of tasks of the default loop that wait for their first slot. Above
	// it Run and Go return ErrOverloaded. 0 means no bound.
	MaxQueue int

	// MaxStarted bounds the number of tasks of the default loop that have started and not ended
	// (running, blocked or suspended). Above it new tasks wait. A task nested in another counts in
	// addition to the outer task. If every started task runs a nested one, a low bound can make
	// them all wait for each other. 0 means no bound.
	MaxStarted int

	// MaxBypass bounds how long other tasks may pass over a suspended task. The task is then
	// resumed, and runs undisturbed for a quarter of that time. 0 means 100 ms, and a negative
	// value no bound.
	MaxBypass time.Duration

	// StallAfter is how long a task may keep its slot without passing a safe point while another
	// task waits. After that the slot is lent to a waiting task, and the stall is reported. If the
	// task itself waits without Block, its slot is lent at once, and this does not count as a
	// stall. 0 means 20 ms, and a negative value never. The minimum is 100 µs.
	StallAfter time.Duration

	// Breath is how often a long-running task yields its core to the kernel for an instant, at a
	// SafePoint, so that the threads that poll the network and the clock can run. On Linux 6.12 and
	// later the runtime also asks the kernel for time slices of three times this duration, for all
	// threads of the process, while such tasks run. Programs that the process starts do not inherit
	// the time slices. 0 means 100 µs. With a negative value, or more than a second, the kernel
	// schedules as it does by default. On other systems Breath has no effect.
	Breath time.Duration

	// Gaps is how often the runtime asks each running task for a safe point, to measure how long
	// the task takes to reach one, and to find out where it is meanwhile: see Runtime.Gaps. It is
	// for finding gaps, not for production. The timer ticks at this interval, and each task begins
	// 0.3 µs later. When a task does not respond, the runtime takes a profile of all goroutines;
	// the profiles take at most a tenth of one core's time, or two thirds with 100,000 goroutines.
	// 0 means that gaps are not measured, unless the environment sets COCOON_GAPS, as cocoon gaps
	// -run does: then it means 1 ms. With a negative value gaps are not measured. The minimum is 10
	// µs.
	Gaps time.Duration

	// KeepProcs leaves GOMAXPROCS alone. By default the runtime raises GOMAXPROCS by SparePs while
	// a task runs long, and restores it a second or more afterwards. With KeepProcs connections and
	// time policies wait for a long task as they do in plain Go, 10 ms and more, unless GOMAXPROCS
	// already has room for the slots and the spare processors. Set it only if the application
	// provides that room (docs/design.md, Processors).
	KeepProcs bool

	// Seed is where the draws of policies' chance(p) begin: from the same seed, a policy that is
	// evaluated as often on a loop has the same draws. 0 means a random seed, which Stats.Seed
	// returns.
	Seed uint64

	// MaxFailures is how many evaluations of a policy may err in a row before it is switched off.
	// 0: 8.
	MaxFailures int

	// QuietThrows omits the log line that says which task a policy has thrown into or refused, why,
	// and where. The line has level Warn and appears at most once a second for a policy.
	QuietThrows bool

	// Logger receives stalls, errors of policies, throws, the verdicts and effects of observing
	// policies, and panics of tasks. nil means slog.Default() at the time the line is logged.
	//
	// It is called on a goroutine of its own, one line after the other, soon after the event and
	// with the time of the event, so a slow or blocked Logger does not delay a task. At most 256
	// lines wait. Further lines are dropped, and a later line says how many. If the Logger panics,
	// the line is lost, and the first panic is reported on standard error. Stats.LinesLost counts
	// both. Shutdown waits up to a second for the last lines. A program that ends without Shutdown
	// may lose them.
	Logger *slog.Logger

	wall       func() time.Time // the system's clock, or a test's
	gapsFolder string           // of COCOON_GAPS, if it counts
	follows    bool             // Slots was 0
}

// LoopConfig configures an additional loop. Its fields mean the same as those in Config.
type LoopConfig struct {
	Name       string // must be unique in the runtime
	Slots      int    // 0 means 1, the classic event loop
	MaxQueue   int
	MaxStarted int

	// Exclusive loops never lend a slot. Their tasks stay atomic towards each other between safe
	// points, even when a task stalls, or waits without Block, and delays the loop. Any other loop
	// with one slot lends it after StallAfter. With more slots, a loop lends the slot of a task
	// that waits without Block at once, and that task then runs concurrently with other tasks until
	// its next safe point.
	Exclusive bool
}

const (
	defaultMaxBypass   = 100 * time.Millisecond
	defaultStallAfter  = 20 * time.Millisecond
	defaultBreath      = 100 * time.Microsecond
	defaultGaps        = time.Millisecond
	defaultMaxFailures = policy.DefaultMaxFailures
	maxSlots           = 1 << 14

	// endless replaces longer durations. It is about 73 years: later than any time of the process,
	// and small enough to be added to one.
	endless = time.Duration(1) << 61

	// Shorter durations would make the timer run all the time.
	leastStallAfter = 100 * time.Microsecond
	leastGaps       = 10 * time.Microsecond

	// longestBreath is far longer than any time slice. A task need not yield its core less often
	// than that.
	longestBreath = time.Second
)

// complete fills in the defaults, and rejects values that make no sense.
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
		c.Slots, c.follows = min(kernel.OwnProcs(), maxSlots), true
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

// clamp limits a duration to the range from least to endless, unless the feature is off.
func clamp(d *time.Duration, least time.Duration) {
	if *d > 0 {
		*d = min(max(*d, least), endless)
	}
}
