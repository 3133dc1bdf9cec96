package cocoon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/decisions"
	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/internal/states"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// newLoop makes a loop, with room for that many slots if the loop may grow later.
func newLoop(rt *Runtime, cfg LoopConfig, room int) *Loop {
	room = max(room, cfg.Slots)
	l := &Loop{
		rt: rt, name: stubs.Intern(cfg.Name), cfg: cfg, first: cfg.Name == defaultLoop,
		slots: make([]slot, room), usage: usage{asOf: notify.Now()},
	}
	l.core = sched.NewCore(sched.Config{
		Slots: room, MaxQueue: cfg.MaxQueue, MaxStarted: cfg.MaxStarted,
		MaxBypass: max(0, int64(rt.cfg.MaxBypass)), Patience: l.patience(),
	})
	l.core.Resize(cfg.Slots, 0)
	l.usable.Store(int32(cfg.Slots))
	l.tickAt.Store(notify.Never)
	for i := range l.slots {
		l.slots[i].holder.Store(&shut)
	}
	l.open()
	return l
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
		cfg: cfg, mode: mode, store: store, made: notify.Now(), started: time.Now(),
		policies: map[string]*Registration{}, funcs: map[string]*safeFunc{}, files: map[string]*loadedDocument{}, loads: map[string]*DocumentStats{},
		log: &logQueue{given: cfg.Logger}, errands: newErrands(),
		empty: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	rt.decisions.traced = cfg.Trace
	rt.decisions.log = decisions.New[Decision](sortsOfDecisions, keptDecisions)
	rt.ctx, rt.cancel = context.WithCancel(context.Background())
	rt.ctx.Done() // make its channel now, and not in a function that runs in a bubble
	rt.gaps = newGapWatch(&rt.cfg, rt.log)
	rt.naming.selectors.Store(&selectors{})
	rt.naming.registered, rt.naming.declared = map[string]Kind{}, map[string]*declared{}
	rt.states.Store(&map[string]*states.Var{})
	rt.documentsKeep = map[*document.Document][]document.Kept{}
	rt.keepNow()
	first := newLoop(rt, LoopConfig{Name: defaultLoop, Slots: cfg.Slots, MaxQueue: cfg.MaxQueue, MaxStarted: cfg.MaxStarted}, cfg.room())
	rt.loops.Store(&[]*Loop{first})
	go goroutine.Learn()
	rt.sample.renew(rt.made)
	rt.cpu.sample(rt.made, false) // a baseline for the first task
	if rt.recorder, err = newRecorder(rt); err != nil {
		store.Close()
		return nil, err
	}
	if rt.recorder != nil {
		rt.addFunc(snapshotFunc, func(context.Context) { rt.recorder.snapshot("policy") })
	}
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
	for _, r := range rt.sequence {
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
	rt.lookSoon()
	return l, nil
}

// bind puts the version in force on a new loop. Called with regMu held, before other code sees the
// loop.
func (v *version) bind(l *Loop) error {
	if v.off.Load() {
		return nil
	}
	if err := v.prepare(l); err != nil {
		return err
	}
	l.replace(nil, []*version{v})
	return nil
}

// unbindFrom undoes bind, if it was done, for a loop that was not created after all.
func (v *version) unbindFrom(l *Loop) {
	if b := v.on(l); b != nil {
		b.close()
		v.bounds = slices.DeleteFunc(v.bounds, func(x *bound) bool { return x == b })
	}
}
