package cocoon

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// bound is a policy on one loop, with an evaluator of its own. It is used only under the loop's
// lock, so evaluations neither share an evaluator nor wait for one.
type bound struct {
	version *version
	loop    *Loop
	eval    *isolate.Evaluator
	reads   []read // except states
	states  stateUse
	chances []int // where in the snapshot its draws are
	draws   stubs.Draws
	sites   []site
	names   []stubs.NameID // of Match.Tasks
	match   *selector      // of Match.Tasks and Match.Except, if names do not suffice; else nil
	refers  []*selector    // the selectors that it references
	kinds   uint8          // bit k: tasks of kind k match; 0: all
	perTask bool           // evaluated for each running task, on ticks and custom events
	asking  bool           // evaluated for each running task that may make room, on enqueue
	mild    bool           // can only switch a task and place the arriving one in the queue
	places  bool           // may place the arriving task

	inForce atomic.Uint32 // its mode; written under the loop's lock

	// For a time policy. Guarded by the loop's lock; the interval is also read without it.
	interval atomic.Int64 // ns; 0: not a time policy
	ways     []way        // the ways in which it can have a result other than continue
	prompt   bool         // has no effects, so it is also evaluated at its horizon
	once     bool         // can only throw, so it ignores tasks with a pending throw
	usual    bool         // may act on any task at any time
	stands   bool         // a clock of its ways may stand still
	due      int64        // its next tick
	looked   int64        // when it was looked at last
	clocked  bool         // it is about the loop, and reads the time of day
	minute   int64        // if clocked: the minute of the day at the last look
	sawQuiet bool         // it was evaluated since the loop became quiet
	busy     int64        // Loop.busy at its last tick
}

// read is one stub to write into the snapshot.
type read struct {
	stub   stubs.ID
	offset int
	words  int
	key    stubs.NameID

	quantile      float64 // of a stub such as queue.wait(0.99)
	window        int64   // over which it is measured, in ns; 0 of others
	series, place int     // where the loop's meter has it

	of       stubs.ID     // for a textRead: the stub with the name
	selector *selector    // the pattern, also as the key of task.sections; nil without one
	taken    *policy.Read // for a textRead without a pattern

	zone *time.Location // of the clock
}

// site is one effect, with the function of a call.
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
		switch {
		case r.OfState(): // newStateUse's
		case r.Stub == stubs.Draw:
			b.chances = append(b.chances, r.Offset)
		default:
			b.reads = append(b.reads, b.newRead(r))
		}
	}
	if b.chances != nil {
		b.draws = stubs.NewDraws(l.rt.cfg.Seed, v.spec.Name, l.cfg.Name)
	}
	for _, s := range p.Sites {
		places := s.Effect == stubs.Rank || s.Effect == stubs.Background && p.On == stubs.Enqueue
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
		} else if _, one := p.Name(); !one { // to learn whether a name has matched
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
	b.clocked = !b.perTask && slices.ContainsFunc(p.Reads, policy.Read.OfClock)
	b.once = b.prompt && !p.MaySwitch()
	b.usual = b.perTask && !b.mild && b.kinds == 0 && len(b.names) == 0 && b.match == nil &&
		slices.ContainsFunc(b.ways, func(w way) bool { return len(w.clocks)+len(w.fixed) == 0 })
}

// matches reports whether the policy applies to tasks like s.
func (b *bound) matches(s *strand) bool {
	return b.matchesKind(s.core.Kind) && b.matchesName(s.task.class)
}

func (b *bound) matchesName(c *class) bool {
	if b.match != nil {
		return c.in(b.match, b.loop.rt)
	}
	return len(b.names) == 0 || slices.Contains(b.names, c.id)
}

// close releases the policy's resources on the loop. Called with regMu held.
func (b *bound) close() {
	b.eval.Close()
	b.loop.rt.release(b.refers)
	b.states.release()
}

func (b *bound) matchesKind(k Kind) bool { return b.kinds == 0 || b.kinds&(1<<k) != 0 }

// watches reports whether ticks of a time policy may have a result for s, which runs. A policy that
// can only throw ignores a task until the pending throw has arrived; arm is called then.
func (b *bound) watches(s *strand) bool {
	return b.concerns(s) && !(b.once && s.pending != nil && b.mode() == Enforce)
}

// guards reports whether the policy must be evaluated for tasks that find a free slot. In that case
// no task waits or needs room.
func (b *bound) guards() bool { return !b.mild && !b.version.queued && !b.silent() }

// concerns reports whether an evaluation for s, which runs, may have a result. A mild policy need
// not be evaluated for a task that cannot be switched out. Places in the queue are given on
// enqueue, by arriving and returning.
func (b *bound) concerns(s *strand) bool { return b.concernsKind(s.core.Kind) && b.matches(s) }

func (b *bound) concernsKind(k Kind) bool { return b.matchesKind(k) && (!b.mild || k&Preemptible != 0) }

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
