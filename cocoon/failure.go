package cocoon

import (
	"log/slog"
)

// failed counts a failed evaluation, made in mode m, and switches the policy off after too many
// failures in a row.
func (v *version) failed(err error, m Mode) {
	r := v.of
	r.stats.errors.Add(1)
	n := v.failures.Add(1)
	v.erred.Store(true)
	f := &failure{plainName(r.name), v.verified.Program(), v.from.Load(), err}
	r.stats.lastError.Store(f)
	off := n >= int64(r.rt.cfg.MaxFailures) && !v.off.Swap(true)
	if n != 1 && !off {
		return // one line per row of failures is enough
	}
	if off {
		v.changed(DecisionPolicyOff, m, f.Error())
		r.rt.log.addLater(slog.LevelError, "cocoon: policy switched off after repeated failure", func() []any {
			return []any{"policy", r.name, "failures", n, "error", f.Error()}
		})
	} else {
		r.rt.log.addLater(slog.LevelWarn, "cocoon: policy erred; its verdict counts as continue", func() []any {
			return []any{"policy", r.name, "error", f.Error()}
		})
	}
}
