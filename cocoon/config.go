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

	// MaxBypass bounds how long other tasks may pass over a suspended task, or the oldest task of a
	// kind in a ranked queue. A suspended task is then resumed, and runs undisturbed for a quarter
	// of that time; a waiting task starts, whatever its rank. So if tasks take a good part of
	// MaxBypass, an overloaded loop departs from ranks and shares: raise it there. 0 means 100 ms,
	// and a negative value no bound.
	MaxBypass time.Duration

	// StallAfter is how long a task may keep its slot while another task waits, if it passes no
	// safe point or nothing declares its kind. After that the slot is lent to a waiting task. A
	// stall is reported only if the task has passed no safe point. If the task itself waits without
	// Block, its slot is lent at once, and this does not count as a stall. A task that nothing
	// declares waits for as long until it may start in place of a preemptible task. 0 means 20 ms,
	// and a negative value never. The minimum is 100 µs.
	StallAfter time.Duration

	// Breath is how often a long-running task yields its core to the kernel for an instant, at a
	// SafePoint, so that the threads that poll the network and the clock can run. While a task
	// passes no SafePoint, the runtime's timer interrupts it every ten times this duration. On Linux
	// 6.12 and later the runtime also asks the kernel for time slices of 1.3 times this duration,
	// for all threads of the process, while such tasks run. Programs that the process starts do not
	// inherit the time slices. 0 means 100 µs. With a negative value, or more than a second, the kernel
	// schedules as it does by default. On other systems Breath has no effect.
	Breath time.Duration

	// Gaps is how often the runtime asks each running task for a safe point, to measure how long
	// the task takes to reach one, and to find out where the task is in that time: see
	// Runtime.Gaps. It is for finding gaps, not for production. The timer ticks at this interval,
	// and each task begins 0.3 µs later. When a task does not respond, the runtime takes a profile
	// of all goroutines; the profiles take at most a tenth of one core's time, or two thirds with
	// 100,000 goroutines. 0 means that gaps are not measured, unless the environment sets
	// COCOON_GAPS, as cocoon gaps -run does: then it means 1 ms. With a negative value gaps are not
	// measured. The minimum is 10 µs.
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

	// ProfileLabels gives the goroutine of each task the pprof labels cocoon.task, the task's name,
	// and cocoon.tenant, if tenants are registered, in addition to the labels in the context that
	// the task was given. Goroutines that the task starts inherit them. When the task ends, its
	// goroutine gets the labels in the given context, or the labels of the task around it: labels
	// set only with pprof.SetGoroutineLabels are lost. It costs a task about 0.1 µs (bench: watch).
	ProfileLabels bool

	// Trace shows tasks in execution traces (runtime/trace): a trace task for each task, with the
	// regions "cocoon queued", "cocoon running" and "cocoon suspended", and a log event for each
	// decision that is kept. It costs a task about 0.8 µs while a trace is being taken, and nothing
	// otherwise (bench: watch).
	Trace bool

	// FlightRecorder keeps an execution trace of the last seconds in memory, and writes it to a
	// file when a task has stalled, when a full queue has refused a task, and when a policy calls
	// call("snapshot"). cocoon why FILE describes such a file. Errors of writing are logged once. A
	// process has at most one flight recorder. It implies Trace, and a trace is being taken all the
	// time.
	FlightRecorder FlightRecorder

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

// FlightRecorder configures Config.FlightRecorder. The zero value turns it off.
type FlightRecorder struct {
	Folder string        // where the files are written; it is made if it does not exist
	Age    time.Duration // what a file covers at least, up to the event; 0: 10 s
	Bytes  int64         // the approximate bound of a file and of the recorder's memory; 0: 10 MiB
	Files  int           // how many files of the runtime are kept in the folder, the newest; 0: 10
	Every  time.Duration // the shortest time between two files; 0: 1 minute
}

// complete fills in the defaults, and rejects values that make no sense.
func (c Config) complete() (_ Config, err error) {
	if err = checkBounds("Config", c.Slots, c.MaxQueue, c.MaxStarted); err != nil {
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
	if c.FlightRecorder, err = c.FlightRecorder.complete(); err != nil {
		return c, err
	}
	c.Trace = c.Trace || c.FlightRecorder.Folder != ""
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

// complete fills in the defaults, and rejects values that make no sense.
func (c FlightRecorder) complete() (FlightRecorder, error) {
	if c.Folder == "" && c != (FlightRecorder{}) {
		return c, fmt.Errorf("cocoon: Config.FlightRecorder has no Folder; name the folder for its files")
	}
	if c.Age < 0 || c.Bytes < 0 || c.Files < 0 || c.Every < 0 {
		return c, fmt.Errorf("cocoon: Config.FlightRecorder is %+v; want no negative values, and 0 for a default", c)
	}
	orDefault(&c.Age, 10*time.Second)
	orDefault(&c.Bytes, 10<<20)
	orDefault(&c.Files, 10)
	orDefault(&c.Every, time.Minute)
	return c, nil
}

// gapsVariable names a folder. Each runtime with a Config.Gaps of 0 then measures gaps every
// millisecond, and keeps them in a file there. cocoon gaps -run sets it.
const gapsVariable = "COCOON_GAPS"

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
