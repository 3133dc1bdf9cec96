package cocoon

import (
	"slices"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// bound is a policy on one loop, with an evaluator of its own: it is only used under the loop's
// lock, so evaluations neither share an evaluator nor wait for one.
type bound struct {
	version *version
	loop    *Loop
	eval    *isolate.Evaluator
	reads   []read // but for states
	states  stateUse
	sites   []site
	names   []stubs.NameID // of Match.Tasks
	match   *selector      // of Match.Tasks and Match.Except, where names will not do; else nil
	refers  []*selector    // to these
	kinds   uint8          // bit k: tasks of kind k match; 0: all
	perTask bool           // it is evaluated for each running task, on ticks and custom events
	asking  bool           // it is evaluated for each running task that may make room, on enqueue
	mild    bool           // it can do nothing but switch a task and give the arriving one its place in the queue
	places  bool           // it may do the latter

	inForce atomic.Uint32 // its mode; written under the loop's lock

	// Of a time policy. Guarded by the loop's lock; the interval is also read without it.
	interval atomic.Int64 // ns; 0: it is none
	ways     []way        // in which it can do something but continue
	prompt   bool         // it has no effects, so it is also evaluated at its horizon
	once     bool         // all that it can do is throw, so a task that is being thrown into is no concern of it
	usual    bool         // it may do something about any task at any time
	stands   bool         // a clock of its ways may stand still
	due      int64        // its next tick
	looked   int64        // when it was looked at last
	sawQuiet bool         // it was evaluated since the loop became quiet
	busy     int64        // Loop.busy at its last tick
}

// read is one stub to be written into the snapshot.
type read struct {
	stub   stubs.ID
	offset int
	words  int
	key    stubs.NameID

	quantile      float64 // of a stub such as queue.wait(0.99)
	window        int64   // over which it is measured, in ns; 0 of others
	series, place int     // where the loop's meter has it

	of       stubs.ID  // of a patternRead: whose name is compared
	selector *selector // the pattern, in place of the key of task.sections, too; nil where there is none
}

// site is one effect, with what it acts on unless that is a state.
type site struct {
	effect stubs.Effect
	fn     *safeFunc
}

// newBound is called with regMu held.
func newBound(v *version, l *Loop, eval *isolate.Evaluator) *bound {
	p := v.verified.Program()
	b := &bound{version: v, loop: l, eval: eval, perTask: p.ForEach()&^stubs.Enqueue != 0, asking: p.AsksRunning(), mild: len(p.Reasons) == 0,
		states: newStateUse(p, v.states)}
	b.inForce.Store(uint32(v.mode()))
	for _, r := range p.Reads {
		if !r.OfState() {
			b.reads = append(b.reads, b.newRead(r))
		}
	}
	for _, s := range p.Sites {
		places := s.Effect == stubs.Rank || s.Effect == stubs.Background
		b.places, b.mild = b.places || places, b.mild && places
		x := site{effect: s.Effect}
		if s.Effect == stubs.Call {
			x.fn = l.rt.funcs[s.Name]
		}
		b.sites = append(b.sites, x)
	}
	if b.match = l.rt.ofMatch(v.spec.Match); b.match != nil {
		b.refers = append(b.refers, b.match)
	}
	for _, text := range slices.Concat(v.spec.Match.Tasks, v.spec.Match.Except) {
		if p, _ := policy.ParsePattern(text); b.match == nil {
			name, _ := p.Name()
			b.names = append(b.names, stubs.Intern(name))
		} else if _, one := p.Name(); !one { // so that it is known whether something has had such a name
			b.refers = append(b.refers, l.rt.ofPattern(text))
		}
	}
	for _, k := range v.spec.Match.Kinds {
		b.kinds |= 1 << slices.Index(stubs.KindNames[:], k)
	}
	if v.spec.On.Interval > 0 {
		b.keepTime(p)
	}
	return b
}

// keepTime prepares a time policy.
func (b *bound) keepTime(p *policy.Program) {
	b.interval.Store(int64(b.version.spec.On.Interval))
	b.ways = b.waysOn(b.version.ways)
	b.prompt, b.stands = len(p.Sites) == 0, mayStand(b.ways)
	b.once = b.prompt && !p.MaySwitch()
	b.usual = b.perTask && !b.mild && b.kinds == 0 && len(b.names) == 0 && b.match == nil &&
		slices.ContainsFunc(b.ways, func(w way) bool { return len(w.clocks)+len(w.fixed) == 0 })
}

// matches reports whether the policy is concerned with tasks like s.
func (b *bound) matches(s *strand) bool {
	return b.matchesKind(s.core.Kind) && b.matchesName(s.task.class)
}

func (b *bound) matchesName(c *class) bool {
	if b.match != nil {
		return c.in(b.match, b.loop.rt)
	}
	return len(b.names) == 0 || slices.Contains(b.names, c.id)
}

// close frees what the policy has on the loop. Called with regMu held.
func (b *bound) close() {
	b.eval.Close()
	b.loop.rt.release(b.refers)
	b.states.release()
}

func (b *bound) matchesKind(k Kind) bool { return b.kinds == 0 || b.kinds&(1<<k) != 0 }

// watches reports whether the ticks of a time policy may come to something about s, which runs. To
// one that can only throw, a task is nothing new before the throw into it has arrived: arm is
// called then.
func (b *bound) watches(s *strand) bool {
	return b.concerns(s) && !(b.once && s.pending != nil && b.mode() == Enforce)
}

// guards reports whether the policy must be asked about tasks that find a slot free: nobody waits
// then, or needs room.
func (b *bound) guards() bool { return !b.mild && !b.version.queued && !b.silent() }

// concerns reports whether an evaluation about s, which runs, may come to something. One that is
// mild need not be asked about a task that cannot be switched; places are given on enqueue, where
// arriving and returning see to it.
func (b *bound) concerns(s *strand) bool { return b.concernsKind(s.core.Kind) && b.matches(s) }

func (b *bound) concernsKind(k Kind) bool { return b.matchesKind(k) && (!b.mild || k&Preemptible != 0) }

// concerned reports whether some policy of the event is to be evaluated for s. It takes no lock.
func (l *Loop) concerned(s *strand, e stubs.Event) bool {
	for _, b := range l.hub.Listeners(uint16(e)) {
		if b.concerns(s) && !b.silent() {
			return true
		}
	}
	return false
}

// running calls f for each strand that runs on the loop. Called under the loop's lock, after
// gather.
func (l *Loop) running(f func(*strand) (more bool)) {
	for i := range l.slots {
		if s := l.slots[i].firm(); s != nil && !f(s) {
			return
		}
	}
	for _, s := range l.absent.lent {
		if !f(s) {
			return
		}
	}
}

// evaluateEach evaluates a policy for each running task that it matches or, when it is about no
// task, once. Called under mu, with the view's notification filled in.
func (l *Loop) evaluateEach(b *bound, now int64) {
	if !b.perTask {
		l.view.about(nil, nil)
		l.evaluate(b, now)
		return
	}
	l.running(func(s *strand) bool {
		if b.concerns(s) {
			l.view.about(s, nil)
			l.evaluate(b, now)
		}
		return true
	})
}

// happened lets the policies of an event see it; the task is the calling goroutine's.
func (l *Loop) happened(s *strand, e stubs.Event) {
	l.lockAll()
	defer l.unlock()
	l.evaluateEvent(s, e, notify.Now())
}

// evaluateEvent evaluates the policies of an event of s. Called under the loop's lock.
func (l *Loop) evaluateEvent(s *strand, e stubs.Event, now int64) {
	for _, b := range l.hub.Listeners(uint16(e)) {
		if b.concerns(s) {
			l.view.about(s, nil)
			l.evaluate(b, now)
		}
	}
}

// arriving evaluates the enqueue policies for s, which has arrived and waits, or has taken a free
// slot. Those that are about running tasks as well are evaluated for each preemptible one that
// might make room, until one is switched; and once without any when there is none. The others are
// evaluated once. A throw refuses s. Called under the loop's lock.
func (l *Loop) arriving(s *strand, now int64) {
	for _, b := range l.hub.Listeners(uint16(stubs.Enqueue)) {
		if !b.matches(s) {
			continue
		}
		asked := b.asking && s.core.State() == sched.Queued && l.askToMakeRoom(b, s, now)
		if !asked && (!b.mild || b.places) {
			l.view.about(nil, s)
			l.evaluate(b, now)
		}
		if s.withdrawn != nil {
			return
		}
	}
}

// askToMakeRoom evaluates an enqueue policy for s, which waits, and each running preemptible task,
// until one will be switched; it reports whether there was any. Called under the loop's lock.
func (l *Loop) askToMakeRoom(b *bound, s *strand, now int64) (asked bool) {
	l.running(func(c *strand) bool {
		if c.core.Kind&Preemptible == 0 {
			return true
		}
		asked = true
		l.view.about(c, s)
		return !l.evaluate(b, now)
	})
	return asked
}

// returning evaluates the mild enqueue policies for s, which has run before and waits for a slot
// again: it can no more be refused, but others may make room for it as for one that arrives, and
// its place may be another now. Called under the loop's lock.
func (l *Loop) returning(s *strand, now int64) {
	for _, b := range l.hub.Listeners(uint16(stubs.Enqueue)) {
		if !b.mild || !b.matches(s) {
			continue
		}
		if asked := b.asking && l.askToMakeRoom(b, s, now); !asked && b.places {
			l.view.about(nil, s)
			l.evaluate(b, now)
		}
	}
}

// notifyCustom lets the policies of a custom event see it.
func (l *Loop) notifyCustom(name string, value float64) {
	if !l.wants(stubs.Custom) {
		return
	}
	l.lockAll()
	defer l.unlock()
	now := notify.Now()
	l.view.event, l.view.text, l.view.value = stubs.Intern(name), name, value
	defer func() { l.view.text = "" }() // it is the caller's
	noteEvent(l.view.event)
	for _, b := range l.hub.Listeners(uint16(stubs.Custom)) {
		if c := b.version.spec.On.Custom; c == "" || c == name {
			l.evaluateEach(b, now)
		}
	}
}
