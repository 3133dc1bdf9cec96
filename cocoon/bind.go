package cocoon

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/internal/states"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// newBound returns version v for loop l, with eval as its evaluator there. Called with regMu held.
func newBound(v *version, l *Loop, eval *isolate.Evaluator) *bound {
	p := v.verified.Program()
	b := &bound{version: v, loop: l, eval: eval, perTask: p.ForEach()&^stubs.Enqueue != 0, asking: p.AsksRunning(), mild: len(p.Reasons) == 0,
		states: states.NewUse(p, v.states, notify.Now())}
	b.inForce.Store(uint32(v.mode()))
	for _, r := range p.Reads {
		switch {
		case r.OfState(): // states.NewUse has it
		case r.Stub == stubs.Draw:
			b.chances = append(b.chances, r.Offset)
		default:
			b.reads = append(b.reads, b.newRead(r))
		}
	}
	if b.chances != nil {
		b.draws = ir.NewDraws(l.rt.cfg.Seed, v.spec.Name, l.cfg.Name)
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
		if p, _ := lang.ParsePattern(text); b.match == nil {
			name, _ := p.Name()
			b.names = append(b.names, stubs.Intern(name))
		} else if _, one := p.Name(); !one { // to learn whether a name has matched
			b.refers = append(b.refers, l.rt.ofPattern(text))
		}
	}
	for _, k := range v.spec.Match.Kinds {
		b.kinds |= 1 << slices.Index(stubs.KindNames[:], k)
	}
	b.minds = b.mindsSlots()
	if v.spec.On.Interval > 0 {
		b.keepTime(p)
	}
	if p.On&stubs.Enqueue != 0 {
		b.gate()
	}
	return b
}

// keepTime prepares a time policy.
func (b *bound) keepTime(p *ir.Program) {
	b.interval.Store(int64(b.version.spec.On.Interval))
	b.ways = b.waysOn(b.version.ways)
	b.prompt, b.stands = len(p.Sites) == 0, mayStand(b.ways)
	b.clocked = !b.perTask && slices.ContainsFunc(p.Reads, ir.Read.OfClock)
	b.once = b.prompt && !p.MaySwitch()
	b.ends = b.perTask && len(p.Reasons) > 0
	b.usual = b.perTask && !b.mild && b.kinds == 0 && len(b.names) == 0 && b.match == nil &&
		slices.ContainsFunc(b.ways, func(w way) bool { return len(w.clocks)+len(w.fixed) == 0 })
}

// close releases the policy's resources on the loop. Called with regMu held.
func (b *bound) close() {
	b.eval.Close()
	b.loop.rt.release(b.refers)
	b.states.Release()
}

// prepare prepares the version for a loop, if the policy matches the loop.
func (v *version) prepare(l *Loop) error {
	if m := v.spec.Match.Loops; len(m) > 0 && !slices.Contains(m, l.cfg.Name) {
		return nil
	}
	eval, err := v.module.NewEvaluator()
	if err != nil {
		return err
	}
	v.bounds = append(v.bounds, newBound(v, l, eval))
	return nil
}

// on returns the version's bound on the loop, or nil.
func (v *version) on(l *Loop) *bound {
	for _, b := range v.bounds {
		if b.loop == l {
			return b
		}
	}
	return nil
}

// discard frees the module when no loop evaluates it any more.
func (v *version) discard() {
	for _, b := range v.bounds {
		b.close()
	}
	v.bounds = nil
	v.module.Close()
}
