package cocoon

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/notify"
)

// Runtime owns loops, policies, the isolate in which policies run, and the timer. Most programs
// need one, the default runtime of the package-level functions. All methods are safe for concurrent
// use.
type Runtime struct {
	cfg    Config
	loops  atomic.Pointer[[]*Loop] // the first is the default loop; replaced under regMu
	timer  *notify.Timer
	store  *isolate.Store
	ctx    context.Context // for functions that policies call
	cancel context.CancelFunc
	tasks  atomic.Int64 // tasks that have not ended, except tasks in open slots
	sample sample
	cpu    cpuClock   // the timer's
	gaps   *gapRecord // nil: gaps are not measured
	log    *logQueue
	looked atomic.Int64 // no stacks are taken for a report until then

	made    int64                       // creation time, on the clock of package notify
	tenants atomic.Pointer[tenantTable] // nil: no tenant has an account; replaced under regMu
	spoken  atomic.Pointer[spoken]      // tenants that policies refer to; replaced under regMu
	costs   atomic.Bool                 // the average cost of tasks of each name is needed

	warmth    warmth
	following following
	breathes  bool // while it is hot, its tasks yield their cores now and then, see breath.go

	naming  naming       // of tasks and sections
	speaks  atomic.Bool  // policies or documents may refer to names
	unmetAt atomic.Int64 // when names without a match are logged; 0: never
	told    []string     // the names that were logged; guarded by regMu

	// passedOver holds the places of SafePoint calls that were logged because they cannot be safe
	// points.
	passedOver sync.Map

	states atomic.Pointer[map[string]*stateVar] // replaced under regMu
	steps  steps

	// regMu serialises registrations. It is taken before any loop's lock, and never by evaluations.
	regMu    sync.Mutex
	policies map[string]*Registration
	funcs    map[string]*safeFunc
	// files holds what each document has put in force, by the absolute path of its file.
	files    map[string]*document
	mode     Mode // of all policies, unless a policy's own mode is greater
	modeLogs seldom
	closing  bool
	empty    chan struct{} // receives an element when the last task ends during Shutdown
	stopped  chan struct{} // closed when Shutdown is complete

	// forgettable is set when Shutdown is complete; the runtime then lives on only for the
	// remaining tasks.
	forgettable atomic.Bool

	// loadMu serialises loading of files, so that the content read last is in force. It is taken
	// before regMu.
	loadMu sync.Mutex
}

// runtimes are the live runtimes of the process. A poll uses them to find its task.
var (
	runtimesMu sync.Mutex
	runtimes   atomic.Pointer[[]*Runtime]
)

func init() { runtimes.Store(new([]*Runtime)) }

func changeRuntimes(change func([]*Runtime) []*Runtime) {
	runtimesMu.Lock()
	defer runtimesMu.Unlock()
	list := change(slices.Clone(*runtimes.Load()))
	runtimes.Store(&list)
}

// New starts a runtime with its default loop. The runtime lives until Shutdown. If New is called in
// a bubble of testing/synctest, the runtime lives outside of the bubble, in real time;
// docs/guide.md describes what its tasks see.
func New(cfg Config) (rt *Runtime, err error) {
	notify.Outside(func() { rt, err = newRuntime(cfg) })
	return rt, err
}

func newRuntime(cfg Config) (*Runtime, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	mode, err := modeOfEnvironment()
	if err != nil {
		return nil, err
	}
	store, err := isolate.NewStore(context.Background())
	if err != nil {
		return nil, fmt.Errorf("cocoon: the isolate: %w", err)
	}
	rt := &Runtime{
		cfg: cfg, mode: mode, store: store, made: notify.Now(),
		policies: map[string]*Registration{}, funcs: map[string]*safeFunc{}, files: map[string]*document{},
		log:   &logQueue{given: cfg.Logger},
		empty: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	rt.ctx, rt.cancel = context.WithCancel(context.Background())
	rt.ctx.Done() // make its channel now, and not in a function that runs in a bubble
	rt.gaps = newGapRecord(cfg.Gaps, newGapFile(cfg.gapsFolder, rt.log))
	rt.naming.selectors.Store(&selectors{})
	rt.naming.registered, rt.naming.declared = map[string]Kind{}, map[string]*declared{}
	rt.states.Store(&map[string]*stateVar{})
	first := newLoop(rt, LoopConfig{Name: "default", Slots: cfg.Slots, MaxQueue: cfg.MaxQueue, MaxStarted: cfg.MaxStarted}, cfg.room())
	first.first = true
	rt.loops.Store(&[]*Loop{first})
	go goroutine.Learn()
	rt.sample.renew(rt.made)
	rt.cpu.sample(rt.made, false) // a baseline for the first task
	rt.timer = notify.NewTimer(rt.onTimer)
	rt.timer.Relax(true)
	rt.addSlots(cfg.Slots)
	rt.breathes = canYield && cfg.Breath > 0
	changeRuntimes(func(l []*Runtime) []*Runtime { return append(l, rt) })
	if mode != Enforce {
		rt.tellMode()
	}
	return rt, nil
}

// Loop returns the default loop.
func (rt *Runtime) Loop() *Loop { return (*rt.loops.Load())[0] }

// NewLoop adds a loop. Policies registered before and after apply to it, if they match it. A loop
// lives as long as its runtime.
func (rt *Runtime) NewLoop(cfg LoopConfig) (*Loop, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	if rt.closing {
		return nil, fmt.Errorf("cocoon: loop %q: %w", cfg.Name, ErrShutdown)
	}
	loops := *rt.loops.Load()
	if slices.ContainsFunc(loops, func(l *Loop) bool { return l.cfg.Name == cfg.Name }) {
		return nil, fmt.Errorf("cocoon: loop %q: %w", cfg.Name, ErrDuplicate)
	}
	l := newLoop(rt, cfg, 0)
	for _, r := range rt.policies {
		if err := r.now.bind(l); err != nil {
			for _, r := range rt.policies {
				r.now.unbindFrom(l)
			}
			return nil, fmt.Errorf("cocoon: loop %q: policy %q: %w", cfg.Name, r.name, err)
		}
	}
	rt.severalLoops()
	loops = append(slices.Clone(loops), l)
	rt.loops.Store(&loops)
	rt.addSlots(cfg.Slots)
	return l, nil
}

// Run runs fn as a task of the default loop, see Loop.Run.
func (rt *Runtime) Run(ctx context.Context, name string, fn func(ctx context.Context) error) error {
	return rt.Loop().Run(ctx, name, fn)
}

// Go starts fn as a task of the default loop, see Loop.Go.
func (rt *Runtime) Go(ctx context.Context, name string, fn func(ctx context.Context) error) *Handle {
	return rt.Loop().Go(ctx, name, fn)
}

// Notify raises the custom event of that name. The policies registered for it are evaluated on the
// calling goroutine, for each running task, or once per loop if they refer to no task.
func (rt *Runtime) Notify(name string, value float64) {
	for _, l := range *rt.loops.Load() {
		l.notifyCustom(name, value)
	}
}

// armStall makes the timer check the loops while a task waits.
func (rt *Runtime) armStall(now int64) {
	if rt.cfg.StallAfter > 0 {
		rt.timer.WakeAt(now + int64(rt.cfg.StallAfter)/2)
	}
}

// ShutdownError lists the tasks that did not end.
type ShutdownError struct{ Tasks []string }

func (e *ShutdownError) Error() string {
	return fmt.Sprintf("cocoon: shutdown: %d tasks did not end: %v", len(e.Tasks), e.Tasks)
}

// shutdownGrace is how long tasks have to unwind after the throw.
const shutdownGrace = time.Second

// Shutdown ends the runtime. From now on new tasks are refused with ErrShutdown. Shutdown waits
// until all tasks have ended. If ctx ends first, it throws into the remaining tasks, with
// ErrShutdown as the cause, and waits one more second for them to unwind. If tasks remain even
// then, it returns a *ShutdownError; they keep running, without policies, and the runtime's memory
// is released when the last of them ends. Later calls wait for the first.
func (rt *Runtime) Shutdown(ctx context.Context) error {
	rt.regMu.Lock()
	first := !rt.closing
	rt.closing = true
	rt.regMu.Unlock()
	if !first {
		select {
		case <-rt.stopped:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for _, l := range *rt.loops.Load() {
		l.lockAll()
		l.closed = true
		l.unlock()
	}
	if !rt.drained(ctx) {
		tasks := rt.liveTasks()
		for _, t := range tasks {
			t.doom("shutdown", ErrShutdown) // all tasks, before one unwinds and wakes another
		}
		for _, t := range tasks {
			// The methods of contexts are application code: one that blocks must not delay the
			// rest.
			go t.cancel("shutdown", ErrShutdown)
		}
		grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
		defer cancel()
		rt.drained(grace)
	}
	return rt.stop()
}

// drained waits until no task is left, and reports false if ctx ends first. The loops are already
// closed.
func (rt *Runtime) drained(ctx context.Context) bool {
	for rt.tasks.Load() > 0 {
		select {
		case <-ctx.Done():
			return false
		case <-rt.empty:
		}
	}
	return true
}

func (rt *Runtime) liveTasks() (tasks []*Task) {
	for _, l := range *rt.loops.Load() {
		l.lock()
		for s := l.live; s != nil; s = s.next {
			tasks = append(tasks, s.task)
		}
		l.unlock()
	}
	return tasks
}

// stop ends the timer and the isolate, and forgets the runtime, unless tasks remain: their polls
// must find the runtime.
func (rt *Runtime) stop() error {
	defer close(rt.stopped)
	rt.cancel()
	rt.timer.Close()
	if rt.gaps != nil {
		rt.gaps.file.write(rt.gaps, true)
	}
	notify.Outside(rt.log.flush) // it waits in real time
	rt.regMu.Lock()
	var all []*version
	for _, r := range rt.policies {
		all = append(all, r.now)
	}
	rt.exchange(all, nil)
	rt.regMu.Unlock()
	err := rt.store.Close()
	rt.endHeat()
	// From now on the end of the last task forgets the runtime, so count the remaining tasks only
	// after this.
	rt.forgettable.Store(true)
	if left := rt.liveTasks(); len(left) > 0 {
		e := &ShutdownError{}
		for _, t := range left {
			e.Tasks = append(e.Tasks, t.Path())
		}
		slices.Sort(e.Tasks)
		return e
	}
	rt.forget()
	if err != nil {
		return fmt.Errorf("cocoon: shutdown: the isolate: %w", err)
	}
	return nil
}

// forget removes the runtime from the list in which polls find their tasks. The runtime has no task
// and will have none. forget may be called twice.
func (rt *Runtime) forget() {
	changeRuntimes(func(l []*Runtime) []*Runtime {
		return slices.DeleteFunc(l, func(r *Runtime) bool { return r == rt })
	})
}

// ended records that a task of a closed loop has ended, for Shutdown, which waits for the last one.
// After Shutdown it also forgets the runtime. Called under the loop's lock; the lock of the list of
// runtimes is taken after it.
func (rt *Runtime) ended() {
	if rt.tasks.Load() > 0 {
		return
	}
	select {
	case rt.empty <- struct{}{}:
	default:
	}
	if rt.forgettable.Load() {
		rt.forget()
	}
}
