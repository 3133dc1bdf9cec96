package cocoon

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// With more names than the table holds, all tasks run, keep their names, and obey the policies that
// apply to them.
func TestMoreNamesThanTheTableHolds(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	rt.naming.classCount.Store(maxClasses)
	rt.naming.sectionCount.Store(maxSections)
	inSection := func(name string, fn func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := Section(ctx, name, func() (int, error) { return 0, fn(ctx) })
			return err
		}
	}
	for range 3 {
		h := rt.Go(background, "one too many", inSection("one more", idle))
		must(t, h.Wait(background))
		if n := h.Task().Name(); n != "one too many" {
			t.Errorf("its name is %q", n)
		}
	}
	if n := rt.Stats().Unkept; n != 6 {
		t.Errorf("%d names were not kept; want 6", n)
	}
	rt.log.flush()
	if n := log.count("there is no room for the name of a"); n != 1 {
		t.Errorf("%d lines: %s", n, &log)
	}
	register(t, rt, Policy{Name: "match", On: OnStart, Match: Match{Tasks: []string{"two too many"}}, Expr: `throw("matched")`})
	register(t, rt, Policy{Name: "name", On: OnStart, Expr: `task.name == "three too many" ? throw("named") : continue()`})
	register(t, rt, Policy{Name: "limit", On: Every(100 * time.Microsecond), Expr: `task.sections["two more"] > duration("1ms") ? throw("late") : continue()`})
	for name, reason := range map[string]string{"two too many": "matched", "three too many": "named"} {
		if pe := preemption(t, rt.Run(background, name, idle)); pe.Reason != reason {
			t.Errorf("%s: %v", name, pe)
		}
	}
	if pe := preemption(t, rt.Run(background, "four too many", inSection("two more", spinForever))); pe.Section != "two more" {
		t.Errorf("%v", pe)
	}
}

// Whatever names clients send, policies registered later apply correctly, to tasks that arrive
// later and to tasks that arrived before.
func TestPoliciesAfterAFlood(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	running, release := make(chan struct{}), make(chan struct{})
	h := rt.Go(WithLabel(background, "tenant", "early"), "GET /early", func(ctx context.Context) error {
		close(running)
		<-release
		return spinForever(ctx)
	})
	receive(t, "start", running)
	for i := range 100_000 {
		ctx := WithLabel(WithLabel(background, "tenant", fmt.Sprint("flood-", i)), fmt.Sprint("key-", i), "x")
		if i%10 == 0 {
			must(t, rt.Run(ctx, "GET /", idle))
		}
		rt.Notify(fmt.Sprint("event-", i), 1)
	}
	late := WithLabel(background, "tenant", "late")
	must(t, rt.Run(late, "GET /late", idle))
	register(t, rt, Policy{Name: "match", On: OnStart, Match: Match{Tasks: []string{"GET /late"}}, Expr: `throw("match")`})
	if pe := preemption(t, rt.Run(late, "GET /late", idle)); pe.Reason != "match" {
		t.Errorf("%v", pe)
	}
	register(t, rt, Policy{Name: "label", On: OnStart, Expr: `task.labels.tenant == "late" ? throw("label") : continue()`})
	if pe := preemption(t, rt.Run(late, "GET /later", idle)); pe.Reason != "label" {
		t.Errorf("%v", pe)
	}
	register(t, rt, Policy{Name: "running", On: Every(time.Millisecond), Expr: `task.labels.tenant == "early" and task.name == "GET /early" ? throw("early") : continue()`})
	close(release)
	if pe := preemption(t, h.Wait(background)); pe.Reason != "early" {
		t.Errorf("%v", pe)
	}
}

// A generated list may be loaded any number of times, with different names each time: names out of
// force leave nothing behind.
func TestReloadsOfManyNames(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	f := newPolicyFile(t)
	heap := func() uint64 {
		rt.log.flush() // a look has the policies of earlier reloads
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var before uint64
	address := func(reload, i int) string { return fmt.Sprintf("10.%d.%d.%d", reload, i>>8, i&255) }
	each := longtest.Count(3000, 300)
	reloads := longtest.Count(40, 9)
	for reload := range reloads {
		var b strings.Builder
		b.WriteString("tasks:\n")
		for i := range each {
			fmt.Fprintf(&b, "  GET /%s: {priority: 1, labels: {%s: %s}}\n", address(reload, i), "of", address(reload, i))
		}
		b.WriteString("policies:\n- name: block\n  on: enqueue\n  expr: 'arriving.labels.ip in [")
		for i := range 200 {
			fmt.Fprintf(&b, "%q, ", address(reload, i))
		}
		fmt.Fprintf(&b, "\"\"] ? throw(\"blocked\") : continue()'\n- {name: match, on: start, match: {tasks: [%s]}, expr: 'throw(\"match\")'}\n", address(reload, 1))
		must(t, f.load(t, rt, b.String()))
		for _, of := range []int{max(0, reload-1), reload} {
			err := rt.Run(WithLabel(background, "ip", address(of, 7)), "job", idle)
			if blocked := err != nil; blocked != (of == reload) {
				t.Fatalf("reload %d: an address of reload %d: %v", reload, of, err)
			}
		}
		if reload == 4 {
			before = heap()
		}
	}
	if after := heap(); after > before+uint64(each)*700 {
		t.Errorf("%d reloads keep %d KiB", reloads-5, (after-before)>>10)
	}
	if err := rt.Run(WithLabel(background, "ip", "elsewhere"), "brand new", idle); err != nil {
		t.Errorf("a task that no policy is about: %v", err)
	}
}
