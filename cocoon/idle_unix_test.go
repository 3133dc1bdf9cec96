//go:build unix

package cocoon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/policy"
)

// idlePolicies are policies of all kinds with ticks.
func idlePolicies(t *testing.T, rt *Runtime) {
	must(t, rt.RegisterState(map[string]any{"overloaded": false, "ticks": 0}))
	const often = 100 * time.Microsecond
	register(t, rt, Policy{Name: "task", On: Every(often), Expr: `task.preemptions > 1000000 ? throw("x") : continue()`})
	register(t, rt, Policy{Name: "loop", On: Every(often), Expr: `set("ticks", state.ticks + 1)`})
	register(t, rt, Policy{Name: "queue", On: Every(often), Expr: `queue.oldest > duration("1ms") ? set("overloaded", true) : continue()`})
	register(t, rt, Policy{Name: "uptime", On: Every(often), Expr: `runtime.uptime > duration("1ms") ? set("overloaded", true) : continue()`})
	register(t, rt, policy.CallerGone())
	for _, spec := range []func() (Policy, error){
		policy.TimeLimit{Func: "job", Limit: 10 * time.Millisecond}.Spec,
		policy.OverloadAlarm{Queue: 10, State: "overloaded"}.Spec,
		func() (Policy, error) { return policy.AdaptiveQuantum(time.Millisecond, 10*time.Millisecond) },
		func() (Policy, error) { return policy.DefaultPreemption(Every(often)), nil },
	} {
		p, err := spec()
		must(t, err)
		register(t, rt, p)
	}
}

// noRuntime is the case of a process without a runtime. The test compares all cases with it: on a
// virtual machine an idle Go program may itself use 0.05 % of a core.
const noRuntime = "no runtime"

// idleCases are states of a runtime that has nothing to do.
var idleCases = map[string]func(t *testing.T, rt *Runtime, until <-chan struct{}) (ended *Handle){
	noRuntime:               nil,
	"before the first task": func(*testing.T, *Runtime, <-chan struct{}) *Handle { return nil },
	"a second loop that is never used": func(t *testing.T, rt *Runtime, _ <-chan struct{}) *Handle {
		newLoopOf(t, rt, "second", 2)
		must(t, rt.Run(background, "job", idle))
		return nil
	},
	"after tasks in open slots": func(t *testing.T, rt *Runtime, _ <-chan struct{}) *Handle {
		for range 100 {
			must(t, rt.Run(background, "job", idle))
		}
		return nil
	},
	"after tasks that were ticked": func(t *testing.T, rt *Runtime, _ <-chan struct{}) *Handle {
		return rt.Go(background, "other", func(ctx context.Context) error {
			for begin := time.Now(); time.Since(begin) < 20*time.Millisecond; {
				SafePoint(ctx)
			}
			return nil
		})
	},
	"while tasks are blocked": func(t *testing.T, rt *Runtime, until <-chan struct{}) (h *Handle) {
		for range 100 {
			h = rt.Go(background, "other", func(ctx context.Context) error {
				return Block(ctx, func() error { <-until; return nil })
			})
		}
		return h
	},
}

// idleCase is the environment variable that names the case of a process of TestIdle.
const idleCase = "COCOON_TEST_IDLE"

type idleProcess struct {
	*exec.Cmd
	out *os.File
}

// idleProcesses are the processes of TestIdle, if TestMain has started them.
var idleProcesses map[string]*idleProcess

// startIdle starts the processes of TestIdle, unless this is one of them. All run at once, because
// they idle.
func startIdle() {
	if os.Getenv(idleCase) != "" {
		return
	}
	idleProcesses = map[string]*idleProcess{}
	for name := range idleCases {
		if longtest.Off() && name != noRuntime && name != "after tasks that were ticked" && name != "while tasks are blocked" {
			continue
		}
		p := &idleProcess{Cmd: exec.Command(os.Args[0], "-test.run=^TestIdle$", "-test.v")}
		p.Env = append(os.Environ(), idleCase+"="+name)
		var err error
		if p.out, err = os.CreateTemp("", "idle"); err != nil { // a pipe would need a goroutine
			panic(err)
		}
		p.Stdout, p.Stderr = p.out, p.out
		if err := p.Start(); err != nil {
			panic(err)
		}
		idleProcesses[name] = p
	}
}

// stopIdle ends the processes that TestIdle has not waited for, because it did not run.
func stopIdle() {
	for _, p := range idleProcesses {
		_ = p.Process.Kill()
		_ = p.Wait()
		_ = os.Remove(p.out.Name())
	}
}

// TestIdle: a runtime that has nothing to do makes the kernel switch threads at most ten times a
// second, and uses at most 0.05 % of a core more than a process without one, whatever its policies.
// Each case has a process of its own.
func TestIdle(t *testing.T) {
	if name := os.Getenv(idleCase); name != "" {
		testIdle(t, idleCases[name])
		return
	}
	t.Parallel() // most of its time is a wait
	if idleProcesses == nil {
		startIdle()
	}
	used := map[string]float64{}
	for name, p := range idleProcesses {
		defer os.Remove(p.out.Name())
		err := p.Wait()
		out, readErr := os.ReadFile(p.out.Name())
		if err := errors.Join(err, readErr, p.out.Close()); err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("%s: %v\n%s", name, err, out)
			continue
		}
		_, least, _ := strings.Cut(string(out), leastUsed)
		least, _, _ = strings.Cut(least, "\n")
		used[name], err = strconv.ParseFloat(least, 64)
		must(t, err)
	}
	idleProcesses = nil
	for name, share := range used {
		t.Logf("%s: %.3f %% of a core", name, 100*share)
		if share > used[noRuntime]+0.0005 {
			t.Errorf("%s: an idle runtime uses %.3f %% of a core; a process without a runtime uses %.3f %%", name, 100*share, 100*used[noRuntime])
		}
	}
}

// leastUsed stands before a process's least use of processor time.
const leastUsed = "least share of a core: "

func testIdle(t *testing.T, begin func(t *testing.T, rt *Runtime, until <-chan struct{}) *Handle) {
	until := make(chan struct{})
	var ended *Handle
	if begin != nil {
		rt := start(t, Config{Slots: 2})
		idlePolicies(t, rt)
		ended = begin(t, rt, until)
	}
	spans := longtest.Count(5, 10)
	span := 10 * time.Second / time.Duration(spans)
	quiet, least := false, 1.0
	for range spans { // one span may contain a garbage collection, or the end of earlier work
		before, cpu := threadSwitches(t), kernel.ProcessCPU()
		time.Sleep(span)
		n, used := threadSwitches(t)-before, time.Duration(kernel.ProcessCPU()-cpu)
		t.Logf("%d switches and %v of processor time in %v", n, used, span)
		quiet = quiet || n <= 10*int64(span/time.Second)
		least = min(least, used.Seconds()/span.Seconds())
	}
	if !quiet {
		t.Errorf("in none of %d times was it quiet", spans)
	}
	fmt.Printf("%s%.6f\n", leastUsed, least)
	close(until)
	if ended != nil {
		must(t, ended.Wait(background))
	}
}

// threadSwitches returns how often the kernel has switched the threads of the process.
func threadSwitches(t *testing.T) int64 {
	t.Helper()
	var u syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return int64(u.Nvcsw) + int64(u.Nivcsw)
}
