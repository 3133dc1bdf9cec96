package cocoon

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/safepoint"
)

// TestMain fails the whole run if it leaves a goroutine, or the process-wide word raised.
func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "32") // parallel tests wait most of the time
	if chosen := func(f string) bool { return flag.Lookup("test."+f).Value.String() != "" }; !chosen("run") && !chosen("list") && !chosen("skip") {
		startIdle() // they idle for seconds, meanwhile other tests run
	}
	tests := m.Run
	if longtest.Off() { // the long form has as many collections as a program
		tests = func() int { return longtest.SmallHeap(m) }
	}
	code := tests()
	stopIdle()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := Default().Shutdown(ctx); err != nil { // the examples use it
		fmt.Fprintln(os.Stderr, "the default runtime:", err)
		code = 1
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if safepoint.Raised() {
		fmt.Fprintln(os.Stderr, "the safepoint word is up at the end of all tests")
		code = 1
	}
	os.Exit(code)
}

// patience is how long a test waits for an event: long enough for a machine busy with other
// processes.
const patience = 20 * time.Second

var background = context.Background()

// start returns a runtime that is shut down at the end of the test. All its slots must be free then
// (invariant 5).
func start(t testing.TB, cfg Config) *Runtime {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	rt, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(background, patience)
		defer cancel()
		if err := rt.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		checkFree(t, rt)
	})
	return rt
}

// shorter shortens durations of this package for the short form of a test, to a tenth. The test
// must not be parallel. It must call shorter before it starts a runtime, which ends before they are
// as long as before.
func shorter[D ~int64](t *testing.T, durations ...*D) {
	if !longtest.Off() {
		return
	}
	for _, d := range durations {
		before := *d
		*d /= 10
		t.Cleanup(func() { *d = before })
	}
}

// checkFree fails unless the runtime has no task, no taken slot, no waiting task and no pending
// request.
func checkFree(t testing.TB, rt *Runtime) {
	t.Helper()
	if st := rt.Stats(); st.Tasks != 0 {
		t.Errorf("%d tasks are left", st.Tasks)
	}
	for _, l := range *rt.loops.Load() {
		l.lock()
		load := l.core.Load(0)
		if load.Busy != 0 || load.Waiting != 0 || load.Suspended != 0 || l.live != nil || l.absent.n.Load() != 0 || len(l.absent.lent) != 0 || len(l.absent.parked) != 0 || len(l.absent.byG) != 0 {
			t.Errorf("loop %s is not free: %+v, live task %v, lent %d", l.cfg.Name, load, l.live != nil, l.absent.n.Load())
		}
		for i := range l.slots {
			if h := l.slots[i].holder.Load(); h != nil && h != &shut {
				t.Errorf("loop %s: slot %d is still recorded as taken", l.cfg.Name, i)
			}
		}
		l.unlock()
	}
}

// eventually waits until ok holds. A task that slept here would wait unannounced and lose its slot,
// so tasks spin. Other goroutines spin for the first milliseconds only: they leave the processors
// to the tasks.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	pause := runtime.Gosched
	begin, spins := time.Now(), true
	for ; !ok(); pause() {
		took := time.Since(begin)
		if took > patience {
			buf := make([]byte, 1<<18)
			t.Fatalf("%s: not within %v\n%s", what, patience, buf[:runtime.Stack(buf, true)])
		}
		if spins && took > 2*time.Millisecond {
			spins = false
			if strandOfGoroutine() == nil {
				pause = func() { time.Sleep(100 * time.Microsecond) }
			}
		}
	}
}

// within calls fn on another goroutine, and fails if it does not return.
func within(t testing.TB, what string, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	receive(t, what, done)
}

// receive waits for a value from a channel.
func receive[T any](t testing.TB, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		buf := make([]byte, 1<<18)
		t.Fatalf("%s: not within %v\n%s", what, patience, buf[:runtime.Stack(buf, true)])
	}
	return v
}

// closed reports whether a channel is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// spin passes safe points until the channel is closed, or a policy preempts it.
func spin(ctx context.Context, until <-chan struct{}) {
	for !closed(until) {
		SafePoint(ctx)
	}
}

// spinForever passes safe points until it is thrown into. If the throw does not come, it returns an
// error instead of hanging.
func spinForever(ctx context.Context) error {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		SafePoint(ctx)
	}
	return fmt.Errorf("nobody threw within %v", patience)
}

// stall does not pass a safe point until ok holds. Between two calls of Gosched it runs for so long
// that the timer finds it running.
func stall(ok func() bool) error {
	for end := time.Now().Add(patience); !ok(); runtime.Gosched() {
		if time.Now().After(end) {
			return fmt.Errorf("stalled for %v in vain", patience)
		}
		for pause := time.Now().Add(100 * time.Microsecond); time.Now().Before(pause) && !ok(); {
		}
	}
	return nil
}

// work keeps its slot and uses it for d.
func work(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// keepSlot keeps a task's slot until c is closed. If the task waited for c, its slot would be lent.
func keepSlot(c <-chan struct{}) error { return stall(func() bool { return closed(c) }) }

func register(t testing.TB, rt *Runtime, p Policy) *Registration {
	t.Helper()
	r, err := rt.RegisterPolicy(p)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return r
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// journal collects the output of a logger.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) logger() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

func (j *journal) count(text string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Count(j.buf.String(), text)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

// taken starts tasks that hold all slots of the loop, without safe points, until release is called.
func taken(t testing.TB, l *Loop) (release func()) {
	t.Helper()
	gate := make(chan struct{})
	var handles []*Handle
	for range l.cfg.Slots {
		handles = append(handles, begun(t, l, background, "holder", func(context.Context) error { return keepSlot(gate) }))
	}
	return sync.OnceFunc(func() {
		close(gate)
		for _, h := range handles {
			must(t, h.Wait(background))
		}
	})
}

// begun starts a task, and returns after its function has been called.
func begun(t testing.TB, l *Loop, ctx context.Context, name string, fn func(context.Context) error) *Handle {
	t.Helper()
	running := make(chan struct{})
	h := l.Go(ctx, name, func(ctx context.Context) error { close(running); return fn(ctx) })
	receive(t, name, running)
	return h
}

// notes are names in the order in which tasks added them. Read them after the tasks have ended.
type notes struct {
	mu    sync.Mutex
	names []string
}

func (n *notes) add(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names = append(n.names, name)
}

// oneSlot returns a loop with one slot, which it does not lend to other tasks. On the default loop
// a task that only spins may lose its slot, because Go makes it wait when a garbage collection
// begins.
func oneSlot(t testing.TB, rt *Runtime) *Loop {
	t.Helper()
	l, err := rt.NewLoop(LoopConfig{Name: "one", Slots: 1})
	must(t, err)
	return l
}
