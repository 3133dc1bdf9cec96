// Package analyzer proves policies harmless before any part of them runs. Nothing compiles or
// evaluates a policy without its proof, a [Verified]. [Verify] makes the proof.
//
// # What is proved
//
// A verified program is well-formed: the types of operands and the scopes of locals are correct,
// reads are inside the snapshot, effects are statements (except for takes in a condition), and
// every path ends in one verdict. It terminates within a known number of steps, its outcome depends
// only on its snapshot (no operation has another source of values), and it never divides by zero.
// It takes from a bucket at most once, and always a valid number of tokens. The remaining run-time
// errors are integer overflow and conversion of a float that fits no integer: the evaluation then
// ends with an error and changes nothing. An operation that always overflows or never fits is
// refused.
//
// # How
//
// The analysis follows every path of the program with the possible values of each expression:
// ranges of numbers and sets of names, taken from the catalogue of stubs and narrowed by the
// conditions on the path. It may consider impossible values possible, never the reverse. It relies
// on the runtime to keep stubs within the ranges of the catalogue, and buckets between empty and
// full; other states can have any value of their type.
package analyzer

import (
	"slices"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
)

// DefaultCost is the greatest worst-case number of steps of a policy when Limits.Cost is 0: less
// than a microsecond (BenchmarkStep in package isolate).
const DefaultCost = 1000

// Limits are the limits of verification. The zero Limits are sound defaults.
type Limits struct {
	Cost     int           // greatest worst-case number of steps; 0 means DefaultCost
	Interval time.Duration // of a time policy, for warnings; 0 for event policies

	// What else is declared with the policy, for warnings.
	Match  policy.Match
	Custom string         // the only custom event, as in policy.Trigger
	State  map[string]any // private states, as in policy.Spec

	Processors int // of the process that evaluates the policy, for warnings; 0: unknown
}

// LimitsOf returns the default limits, with the declarations of the policy.
func LimitsOf(s policy.Spec) Limits {
	return Limits{Interval: s.On.Interval, Match: s.Match, Custom: s.On.Custom, State: s.State}
}

// Verified is the proof that a program is safe to run. Only Verify makes one. The zero Verified
// proves nothing: its Program is nil, and a function that takes a Verified must refuse it. A
// Verified is immutable and safe for concurrent use.
type Verified struct {
	program *ir.Program
	cost    int
	warn    func() []Warning // of the first caller; later ones get the same
}

// Program returns the verified program, or nil for the zero Verified.
func (v Verified) Program() *ir.Program { return v.program }

// Cost returns the greatest number of steps an evaluation can take, see ir.Bound.
func (v Verified) Cost() int { return v.cost }

// Warnings returns the warnings, in the order of the text. They are about probable mistakes that do
// no harm. The caller must not change the slice. The first call looks for them, which takes longer
// than the proof.
func (v Verified) Warnings() []Warning {
	if v.warn == nil {
		return nil
	}
	return v.warn()
}

// Verify proves that the program is safe to run, or returns the reason why it is not: a
// *policy.Error, or an error that wraps ErrMalformed if Parse cannot have made the program. It
// stops at the first error. Verify takes time proportional to the size of the program, and at most
// a fraction of a second for any input. The program must not change during or after the call.
//
// Warnings are not errors. They report constant conditions, unreachable throws, switches and
// effects, durations finer than the policy's interval, unused names and private states, and
// conditions that contradict the Match. If a constant condition leaves a policy that can only
// continue, its author meant a different policy, and Verify refuses it. For a policy that consists
// only of continue(), and for one with chance(0) or chance(1), it only warns.
func Verify(p *ir.Program, limits Limits) (Verified, error) {
	if err := checkForm(p); err != nil {
		return Verified{}, err
	}
	cost, err := checkCost(p, limits)
	if err != nil {
		return Verified{}, err
	}
	if err := checkTakes(p); err != nil {
		return Verified{}, err
	}
	a := newAnalysis(p, limits.Interval)
	a.declared, a.machine = limits.Match, limits.Processors
	a.statement(p.Root)
	if a.err == nil {
		a.review()
	}
	if a.err != nil {
		return Verified{}, a.err
	}
	return Verified{program: p, cost: cost, warn: sync.OnceValue(func() []Warning { return a.all(limits) })}, nil
}

// all returns all warnings, when the analysis has ended.
func (a *analysis) all(limits Limits) []Warning {
	all := narrowed(a.p, limits, a.warnings)
	if len(a.late) > 0 && !(Verified{program: a.p}.keepsTime() && a.ofTimeAlone()) && !a.samples() {
		all = append(all, a.late...)
	}
	all = append(all, unused(a.p, limits.State)...)
	all = append(all, unmatched(a.p, limits.Match)...)
	all = append(all, a.contrary()...)
	all = append(all, a.shareOfOne()...)
	all = append(all, precedence(a.p, all)...)
	all = append(all, a.undated()...)
	all = append(all, a.unlabelled()...)
	for _, look := range []func() []Warning{a.waits, a.slices, a.heap, a.unranked, a.gone, a.lasting, a.surplus, a.totals, a.crowds, a.perSecond, a.countedRates, a.mingled, a.overdrawn, a.misread, a.miscounted, a.misshared, a.firstFailure, a.halfway, a.paid, a.lastHours, a.windows, a.otherWindow, a.unset, a.crossed, a.lastSlot, a.spentTokens} {
		all = append(all, look()...)
	}
	all = append(all, a.overtaken(all)...)
	all = append(all, a.demoted()...)
	slices.SortStableFunc(all, func(v, w Warning) int { return v.Pos - w.Pos })
	return all
}
