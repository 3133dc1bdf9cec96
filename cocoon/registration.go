package cocoon

import (
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy/document"
)

// Registration is a registered policy. All methods are safe for concurrent use.
type Registration struct {
	rt       *Runtime
	name     string
	stats    policyStats
	versions int // how many have come into force; guarded by rt.regMu

	now *version // the version in force, or the last one; guarded by rt.regMu
}

// failure is the error of an evaluation, and what is needed to find its place. Finding it takes
// longer than an evaluation, so that is left to the reader of the error.
type failure struct {
	name    string // of the policy
	program *ir.Program
	from    *loadedDocument // that declares the policy; nil: code does
	err     error
}

// policyStats are a policy's counters.
type policyStats struct {
	evaluations, throws, refusals, switches, effects atomic.Int64
	wouldThrow, wouldSwitch, wouldEffect             atomic.Int64
	errors, clamped                                  atomic.Int64
	logs, throwLogs                                  logLimit // of dry runs; of throws
	kept, keptStates                                 budget   // of decisions in the stream; of states
	lastError                                        atomic.Pointer[failure]
}

// Name returns the policy's name.
func (r *Registration) Name() string { return r.name }

// Warnings returns the analyzer's warnings about the version in force.
func (r *Registration) Warnings() []string {
	r.rt.regMu.Lock()
	defer r.rt.regMu.Unlock()
	var texts []string
	for _, w := range r.now.verified.Warnings() {
		texts = append(texts, w.Error.Error())
	}
	return texts
}

// counted is called with regMu held.
func (r *Registration) counted() PolicyStats {
	st := r.stats.snapshot()
	if e := r.stats.lastError.Load(); e != nil {
		st.LastError = e.Error()
	}
	st.Off, st.Mode = r.now.off.Load(), r.now.mode()
	if least := r.now.leastInterval(); least != notify.Never {
		st.Interval = time.Duration(least)
	}
	return st
}

// Error returns "FILE:LINE:COLUMN: policy "shed": integer overflow", or "policy.expr:LINE:COLUMN:
// integer overflow" for a policy of code.
func (f *failure) Error() string {
	err := f.program.Located(f.err)
	if f.from == nil {
		return err.Error()
	}
	err = f.from.source.Refused(document.Part{Kind: "policy", Name: f.name}, err)
	if f.from.file != "" {
		err = document.InFile(err, f.from.file)
	}
	return err.Error()
}

func (s *policyStats) snapshot() PolicyStats {
	return PolicyStats{
		Evaluations: s.evaluations.Load(), Throws: s.throws.Load(), Refusals: s.refusals.Load(),
		Switches: s.switches.Load(), Effects: s.effects.Load(),
		WouldThrow: s.wouldThrow.Load(), WouldSwitch: s.wouldSwitch.Load(), WouldEffect: s.wouldEffect.Load(),
		Errors: s.errors.Load(), Clamped: s.clamped.Load(),
	}
}
