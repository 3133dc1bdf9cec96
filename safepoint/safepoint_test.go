package safepoint

import (
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

// hook is the slow path of the current test. The process has one slow path, so the tests share one,
// attached in init.
var hook atomic.Pointer[func()]

func init() {
	Attach(func() {
		if h := hook.Load(); h != nil {
			(*h)()
		}
	})
}

func withHook(t testing.TB, h func()) {
	hook.Store(&h)
	t.Cleanup(func() {
		hook.Store(nil)
		if Raised() {
			t.Error("the test left the word raised")
			word.requests.Store(0)
		}
	})
}

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func TestPollCallsSlowPathWhileRaised(t *testing.T) {
	calls := 0
	withHook(t, func() { calls++ })
	for _, step := range []struct {
		name   string
		do     func()
		raised bool
		calls  int // so far, after one more poll
	}{
		{"nothing asked", func() {}, false, 0},
		{"one request", Raise, true, 1},
		{"still unanswered", func() {}, true, 2},
		{"a second request", Raise, true, 3},
		{"one of two answered", Lower, true, 4},
		{"both answered", Lower, false, 4},
	} {
		step.do()
		Poll()
		if Raised() != step.raised || calls != step.calls {
			t.Fatalf("%s: raised %v, %d slow paths; want %v, %d", step.name, Raised(), calls, step.raised, step.calls)
		}
	}
}

func TestPollLetsThePanicOfTheSlowPathThrough(t *testing.T) {
	withHook(t, func() { panic("thrown") })
	Raise()
	defer Lower()
	if v := panicOf(Poll); v != "thrown" {
		t.Fatalf("Poll panicked with %v, want the slow path's panic", v)
	}
}

func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"lower without raise", Lower, "Lower without Raise"},
		{"second attach", func() { Attach(func() {}) }, "Attach called twice"},
		{"nil attach", func() { Attach(nil) }, "Attach of a nil function"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, _ := panicOf(c.do).(string)
			if !strings.Contains(v, c.want) {
				t.Fatalf("panicked with %q, want %q", v, c.want)
			}
			if Raised() {
				t.Fatal("the word is raised after a refused call")
			}
		})
	}
}

func TestWithoutSlowPathPollDoesNothing(t *testing.T) {
	own := slowPath.Swap(nil)
	defer slowPath.Store(own)
	Raise()
	defer Lower()
	if v := panicOf(Poll); v != nil {
		t.Fatalf("Poll panicked with %v", v)
	}
}

// TestConcurrentRequests makes and answers requests concurrently, by the protocol: no request is
// lost, and no request is lowered that was not raised.
func TestConcurrentRequests(t *testing.T) {
	const askers, each = 4, 2000
	var pending, answered atomic.Int64
	withHook(t, func() {
		for {
			n := pending.Load()
			if n == 0 {
				return
			}
			if pending.CompareAndSwap(n, n-1) {
				answered.Add(1)
				Lower()
				return
			}
		}
	})
	var asking, polling sync.WaitGroup
	var done atomic.Bool
	for range askers {
		asking.Go(func() {
			for range each {
				Raise()
				pending.Add(1)
			}
		})
		polling.Go(func() {
			for !done.Load() || pending.Load() > 0 {
				Poll()
			}
		})
	}
	asking.Wait()
	done.Store(true)
	polling.Wait()
	if n := answered.Load(); n != askers*each || Raised() {
		t.Fatalf("%d answers to %d requests, raised %v", n, askers*each, Raised())
	}
}

func TestWordHasItsCacheLinesToItself(t *testing.T) {
	start := unsafe.Offsetof(word.requests)
	end := unsafe.Sizeof(word) - start - unsafe.Sizeof(word.requests)
	if start < lines || end < lines {
		t.Fatalf("%d bytes before the word and %d behind it, want %d", start, end, lines)
	}
}

// TestPollIsInlined checks the compiler's report that Poll is inlined, on which the cost of a safe
// point depends.
func TestPollIsInlined(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command to ask")
	}
	out, err := exec.Command(goTool, "build", "-gcflags=-m=2", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	const budget = 80
	for _, f := range []string{"Poll", "Raised"} {
		m := regexp.MustCompile(`can inline ` + f + ` with cost (\d+) as`).FindSubmatch(out)
		if m == nil {
			t.Fatalf("%s is not inlined; the compiler says:\n%s", f, out)
		}
		if cost, _ := strconv.Atoi(string(m[1])); cost > budget {
			t.Errorf("%s costs %d of the inliner's budget of %d", f, cost, budget)
		}
	}
}
