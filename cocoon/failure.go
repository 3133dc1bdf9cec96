package cocoon

import (
	"log/slog"

	"github.com/cocoon-go/cocoon/policy"
)

// failure is the error of an evaluation, and what is needed to find its place. Finding it takes
// longer than an evaluation, so that is left to the reader of the error.
type failure struct {
	name    string // of the policy
	program *policy.Program
	from    *document // that declares the policy; nil: code does
	err     error
}

// Error returns "FILE:LINE:COLUMN: policy "shed": integer overflow", or "policy.expr:LINE:COLUMN:
// integer overflow" for a policy of code.
func (f *failure) Error() string {
	err := f.program.Located(f.err)
	if f.from == nil {
		return err.Error()
	}
	err = f.from.source.Refused(policy.Part{Kind: "policy", Name: f.name}, err)
	if f.from.file != "" {
		err = policy.InFile(err, f.from.file)
	}
	return err.Error()
}

// failed counts an evaluation that failed, and switches the policy off after too many failures in a
// row.
func (v *version) failed(err error) {
	r := v.of
	r.stats.errors.Add(1)
	n := v.failures.Add(1)
	f := &failure{r.name, v.verified.Program(), v.from.Load(), err}
	r.stats.lastError.Store(f)
	off := n >= int64(r.rt.cfg.MaxFailures) && !v.off.Swap(true)
	if n != 1 && !off {
		return // one line per row of failures is enough
	}
	if off {
		r.rt.log.addLater(slog.LevelError, "cocoon: policy switched off after repeated failure", func() []any {
			return []any{"policy", r.name, "failures", n, "error", f.Error()}
		})
	} else {
		r.rt.log.addLater(slog.LevelWarn, "cocoon: policy erred; its verdict counts as continue", func() []any {
			return []any{"policy", r.name, "error", f.Error()}
		})
	}
}
