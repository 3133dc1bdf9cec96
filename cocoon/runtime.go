package cocoon

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/keep"
	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy"
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

	// the states and warnings that were logged; guarded by regMu
	toldIdle, toldUnread, toldTogether, toldFlows []string

	// passedOver holds the places that were logged: SafePoint calls that cannot be safe points, and
	// calls that keep a throw for too long (keptAt).
	passedOver sync.Map

	// see keeps; nil: no rules of the build or of documents
	kept          atomic.Pointer[keep.Set]
	documentsKeep map[*policy.Document][]policy.Kept // guarded by regMu
	keptSeen      *keep.Set                          // for which keptUnmet is; guarded by regMu
	keptUnmet     []string

	states atomic.Pointer[map[string]*stateVar] // replaced under regMu
	steps  steps

	// regMu serialises registrations. It is taken before any loop's lock, and never by evaluations.
	regMu         sync.Mutex
	policies      map[string]*Registration
	endedPolicies endedPolicies // guarded by regMu
	funcs         map[string]*safeFunc
	// files holds what each document has put in force, by the absolute path of its file.
	files    map[string]*document
	mode     Mode // of all policies, unless a policy's own mode is greater
	modeLogs logLimit
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
	rt.documentsKeep = map[*policy.Document][]policy.Kept{}
	rt.keepNow()
	first := newLoop(rt, LoopConfig{Name: "default", Slots: cfg.Slots, MaxQueue: cfg.MaxQueue, MaxStarted: cfg.MaxStarted}, cfg.room())
	first.first = true
	rt.loops.Store(&[]*Loop{first})
	go goroutine.Learn()
	rt.sample.renew(rt.made)
	rt.cpu.sample(rt.made, false) // a baseline for the first task
	rt.timer = notify.NewTimer(rt.onTimer)
	rt.timer.Relax(true)
	rt.addSlots(cfg.Slots)
	rt.breathes = kernel.CanYield && cfg.Breath > 0
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
