// Package analyzer proves policies harmless before anything of them runs. Nothing compiles or
// evaluates a policy without its proof, a Verified.
//
// A verified program is well-formed (the types of operands, the scopes of locals, reads inside the
// snapshot, effects where statements are, but for tokens that a condition takes, one verdict at the
// end of every path), it terminates within a known number of steps, its outcome depends on its
// snapshot alone (there is no other operation to take a value from), and it never divides by zero.
// It takes from a bucket once at most, and a number of tokens. What remains possible at run time is
// an integer overflow or a float that fits no integer: then the evaluation ends there with an error
// and changes nothing. What always overflows or never fits is refused.
//
// The analysis follows every path of the program with the values that each expression can have
// there: ranges of numbers and sets of names, as the catalogue of stubs gives them and the
// conditions on the path narrow them. It may think possible what is not, never the reverse. It
// relies on the runtime to keep stubs within the ranges of the catalogue, and buckets between empty
// and full; other states can have any value of their type.
package analyzer

import (
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/policy"
)

// DefaultCost is the greatest worst-case number of steps of a policy when Limits.Cost is 0: less
// than a microsecond (BenchmarkStep in package isolate).
const DefaultCost = 1000

// Limits are what a policy is verified against. The zero Limits are sound defaults.
type Limits struct {
	Cost     int           // greatest worst-case number of steps; 0 means DefaultCost
	Interval time.Duration // of a time policy, for warnings; 0 for event policies
}

// Verified is the proof that a program is safe to run. Only Verify makes one; the zero Verified
// proves nothing, its Program is nil, and whoever takes a Verified must refuse it. Immutable and
// safe for concurrent use.
type Verified struct {
	program  *policy.Program
	cost     int
	warnings []Warning
}

// Program returns the program that was verified, or nil for the zero Verified.
func (v Verified) Program() *policy.Program { return v.program }

// Cost returns the greatest number of steps an evaluation can take, see policy.Bound.
func (v Verified) Cost() int { return v.cost }

// Warnings returns what is probably a mistake but cannot do harm, in the order of the text. The
// caller must not change it.
func (v Verified) Warnings() []Warning { return v.warnings }

// Verify proves that the program is safe to run, or says why it is not: with a *policy.Error, or
// with an error that wraps ErrMalformed when Parse cannot have made the program. It stops at the
// first error. Verify takes time in proportion to the program, and at most a fraction of a second
// whatever it is given; the program must not change while it runs, nor after.
//
// Warnings are no errors: conditions that are always true or always false, a throw, switch or
// effect that is never reached, durations finer than the policy's interval. When because of them a
// policy can do nothing but continue, its author meant something else, and it is refused; a policy
// that is written as nothing but continue() is only warned about.
func Verify(p *policy.Program, limits Limits) (Verified, error) {
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
	a.statement(p.Root)
	if a.err == nil {
		a.review()
	}
	if a.err != nil {
		return Verified{}, a.err
	}
	v := Verified{program: p, cost: cost, warnings: a.warnings}
	if len(a.late) > 0 && !v.keepsTime() {
		v.warnings = append(v.warnings, a.late...)
		slices.SortStableFunc(v.warnings, func(v, w Warning) int { return v.Pos - w.Pos })
	}
	return v, nil
}
