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
	ctx    context.Context // of functions that policies call
	cancel context.CancelFunc
	tasks  atomic.Int64 // tasks that have not ended, but for those in open slots
	sample sample
	cpu    cpuClock   // the timer's
	gaps   *gapRecord // nil: they are not measured
	log    *logQueue
	looked atomic.Int64 // until when no stacks are taken for a report

	made    int64                       // when, on the clock of package notify
	tenants atomic.Pointer[tenantTable] // nil: nobody keeps account of them; replaced under regMu
	spoken  atomic.Pointer[spoken]      // tenants of which policies speak; likewise
	costs   atomic.Bool                 // somebody wants to know what tasks of a name cost

	warmth    warmth
	following following
	breathes  bool // its tasks give their cores away now and then while it is hot, see breath.go

	naming  naming       // of tasks and sections
	speaks  atomic.Bool  // policies or documents may speak of names
	unmetAt atomic.Int64 // when names are to be logged that nothing has had; 0: there is no such time
	told    []string     // of these, those that were logged; guarded by regMu

	passedOver sync.Map // places of SafePoints that were logged because they are none there

	states atomic.Pointer[map[string]*stateVar] // replaced under regMu
	steps  steps

	// regMu serialises registrations. It is taken before any loop's lock, and not by evaluations.
	regMu    sync.Mutex
	policies map[string]*Registration
	funcs    map[string]*safeFunc
	files    map[string]*document // what documents have put in force, by the absolute path of their file
	mode     Mode                 // of all policies, as far as they have no greater one
	modeLogs seldom
	closing  bool
	empty    chan struct{} // gets an element when the last task ends during Shutdown
	stopped  chan struct{} // closed when Shutdown has done all it can

	forgettable atomic.Bool // Shutdown has done all it can: the runtime lives on for the tasks that are left

	loadMu sync.Mutex // serialises loading of files, so that what was read last is in force; taken before regMu
}

// runtimes are the live runtimes of the process: a poll finds its task through them.
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

// New starts a runtime with its default loop. It lives until Shutdown. In a bubble of
// testing/synctest it lives outside of the bubble, and in real time; docs/guide.md tells what its
// tasks see.
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
	rt.ctx.Done() // its channel is made now, and not by a function that runs in a bubble
	rt.gaps = newGapRecord(cfg.Gaps, newGapFile(cfg.gapsFolder, rt.log))
	rt.naming.selectors.Store(&selectors{})
	rt.naming.registered, rt.naming.declared, rt.naming.wholes = map[string]Kind{}, map[string]*declared{}, map[string]*declared{}
	rt.states.Store(&map[string]*stateVar{})
	first := newLoop(rt, LoopConfig{Name: "default", Slots: cfg.Slots, MaxQueue: cfg.MaxQueue, MaxStarted: cfg.MaxStarted}, cfg.room())
	first.first = true
	rt.loops.Store(&[]*Loop{first})
	go goroutine.Learn()
	rt.sample.renew(rt.made)
	rt.cpu.sample(rt.made, false) // so that the first task is measured by something
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

// NewLoop adds a loop. Policies registered before and after apply to it, where they match. A loop
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

// Notify raises the custom event of that name: policies registered for it are evaluated on the
// calling goroutine, for each running task or, when they are about no task, once a loop.
func (rt *Runtime) Notify(name string, value float64) {
	for _, l := range *rt.loops.Load() {
		l.notifyCustom(name, value)
	}
}

// armStall sees to it that the timer looks after the loops while a task waits.
func (rt *Runtime) armStall(now int64) {
	if rt.cfg.StallAfter > 0 {
		rt.timer.WakeAt(now + int64(rt.cfg.StallAfter)/2)
	}
}

// ShutdownError names the tasks that did not end.
type ShutdownError struct{ Tasks []string }

func (e *ShutdownError) Error() string {
	return fmt.Sprintf("cocoon: shutdown: %d tasks did not end: %v", len(e.Tasks), e.Tasks)
}

// shutdownGrace is how long tasks have to unwind after the throw.
const shutdownGrace = time.Second

// Shutdown ends the runtime. New tasks are refused with ErrShutdown from now on. It waits until all
// tasks have ended; when ctx ends before, it throws into those that are left, with ErrShutdown as
// the cause, and waits a second more for them to unwind. It returns a *ShutdownError when tasks are
// left even then; they keep running, without policies, and the runtime's memory is given back when
// the last of them ends. Calls after the first wait for it.
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
			t.doom("shutdown", ErrShutdown) // all of them, before one unwinds and wakes another
		}
		for _, t := range tasks {
			go t.cancel("shutdown", ErrShutdown) // contexts are others' code: one that blocks must not hold up the rest
		}
		grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
		defer cancel()
		rt.drained(grace)
	}
	return rt.stop()
}

// drained waits until no task is left, and reports false when ctx ends first. The loops are closed
// by now.
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

// stop ends the timer and the isolate, and forgets the runtime, unless tasks are left whose polls
// must find them.
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
	rt.forgettable.Store(true) // from now on the last task's end forgets it, so look after this for those that are left
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

// forget takes the runtime, which has no task any more and will have none, off the list by which
// polls find their tasks. It may be called twice.
func (rt *Runtime) forget() {
	changeRuntimes(func(l []*Runtime) []*Runtime {
		return slices.DeleteFunc(l, func(r *Runtime) bool { return r == rt })
	})
}

// ended notes that a task of a closed loop has ended, for who waits for the last one; after
// Shutdown the runtime goes with it. Called under the loop's lock: that of the list of runtimes
// comes after it.
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
