package victim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// between is the number of throws between two checks of the result.
const between = 5

// soon is the time after its limit within which an operation may end by itself and counts as ended
// before its limit: it may have no poll left. An operation that ends before the verdict counts as
// well, on a busy machine.
const soon = 2 * time.Millisecond

// shortest is the shortest limit: an operation may become quick when its caches are full.
const shortest = 10 * time.Microsecond

// patience is the time that a call may take in addition to ten times its span.
const patience = 10 * time.Second

// campaign is the work of one process.
type campaign struct {
	order  Order
	op     Operation
	rt     *cocoon.Runtime
	lines  *lines
	report Report
}

func newCampaign(o Order, op Operation) (*campaign, error) {
	c := &campaign{order: o, op: op, lines: &lines{}}
	c.report.Returned = map[string]int{}
	var err error
	c.rt, err = cocoon.New(cocoon.Config{Logger: c.lines.logger(), QuietThrows: true})
	return c, err
}

// calls calls the operation twice, undisturbed: its first call may fill caches.
func (c *campaign) calls() error {
	for range 2 {
		answer, ran, err := c.call("calm")
		if err != nil {
			return fmt.Errorf("the operation: %w", err)
		}
		c.report.Span = ran
		if got := digest(answer); c.report.Answer == "" {
			c.report.Answer = got
		} else if got != c.report.Answer {
			return fmt.Errorf("the operation answers %s, and then %s", c.report.Answer, got)
		}
	}
	return nil
}

// call runs the operation as a task, and returns how long it ran. If it does not return, nothing
// else can be found out in this process, so the process ends.
func (c *campaign) call(name string) (answer any, ran time.Duration, err error) {
	watch := time.AfterFunc(10*c.order.Span+patience, func() {
		c.harm("a %s call does not return:\n%s", name, stacks())
		c.write()
		os.Exit(0)
	})
	defer watch.Stop()
	h := c.rt.Go(context.Background(), name, func(ctx context.Context) (err error) {
		answer, err = c.op(ctx)
		return err
	})
	err = h.Wait(context.Background())
	return answer, h.Account().Running, err
}

// throws sets limits at random moments of the operation.
func (c *campaign) throws() {
	for i, tries := 0, 0; i < c.order.Throws && tries < 3*c.order.Throws; tries++ {
		limit := max(shortest, time.Duration((0.01+0.9*rand.Float64())*float64(c.order.Span)))
		if !c.throw(fmt.Sprintf("thrown/%d", tries), limit) {
			continue // it ended before its limit
		}
		if i++; i%between == 0 || i == c.order.Throws {
			c.look(i)
		}
	}
}

// throw calls the operation with a limit, and reports whether the limit came well before the end.
func (c *campaign) throw(name string, limit time.Duration) bool {
	policy, err := c.rt.RegisterTimeLimit(cocoon.TimeLimit{Func: name, Limit: limit})
	if err != nil {
		fail(err)
	}
	defer policy.Cancel()
	_, ran, err := c.call(name)
	late := ran - limit
	switch preempted := (*cocoon.PreemptedError)(nil); {
	case errors.As(err, &preempted):
		c.report.Stopped = append(c.report.Stopped, late)
	case err == nil && (late < soon || policy.Stats().Throws == 0):
		if late < 0 { // it is faster than it was in a fresh process
			c.order.Span = min(c.order.Span, ran)
		}
		return false
	default:
		c.report.Missed = append(c.report.Missed, late)
		if own := (*cocoon.TaskError)(nil); errors.As(err, &own) {
			err = own.Err // without the name of the task
		}
		if err != nil {
			c.report.Returned[digest(err)]++
		}
	}
	return true
}

// look compares the operation's result with the result of a fresh process.
func (c *campaign) look(throws int) {
	answer, _, err := c.call("look")
	if err != nil {
		c.harm("after %d throws: %v", throws, err)
	} else if got := digest(answer); got != c.order.Answer {
		c.harm("after %d throws the answer is %s, instead of %s", throws, got, c.order.Answer)
	}
}

func (c *campaign) harm(format string, args ...any) {
	if len(c.report.Harm) < 3 {
		c.report.Harm = append(c.report.Harm, fmt.Sprintf(format, args...))
	}
}

// end counts the remaining goroutines and writes the report.
func (c *campaign) end() {
	if err := c.rt.Shutdown(context.Background()); err != nil {
		fail(err)
	}
	// Goroutines may need a moment to end.
	for range 20 {
		runtime.GC() // finalizers may stop goroutines
		if n := runtime.NumGoroutine(); c.report.Goroutines == 0 || n < c.report.Goroutines {
			c.report.Goroutines = n
		}
		time.Sleep(5 * time.Millisecond)
	}
	c.write()
}

func (c *campaign) write() {
	c.report.Kept = c.lines.kept()
	text, err := json.Marshal(c.report)
	if err == nil {
		err = os.WriteFile(c.order.Report, text, 0o666)
	}
	if err != nil {
		fail(err)
	}
}

func stacks() string {
	var b strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		return err.Error()
	}
	return b.String()
}
