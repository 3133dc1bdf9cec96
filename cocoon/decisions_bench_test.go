package cocoon

import "testing"

// What a refusal costs, and what its part in the stream of decisions is: a copy of the snapshot and
// an entry; and what a reader pays for the branch.
func BenchmarkDecisions(b *testing.B) {
	rt := refusing(b)
	ctx := WithLabel(background, "user", "eve")
	b.Run("refusal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rt.Run(ctx, "job", idle)
		}
	})
	d := next(b, rt.Decisions(0), DecisionRefusal)
	b.Run("refusal kept", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rt.Policy("no").stats.kept.used.Store(0)
			rt.Run(ctx, "job", idle)
		}
	})
	b.Run("add", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rt.decisions.add(sortVerdict, &d)
		}
	})
	b.Run("branch", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d.Branch()
		}
	})
	b.Run("read", func(b *testing.B) {
		r := rt.Decisions(0)
		for b.Loop() {
			if _, ok := r.read(); !ok {
				r = rt.Decisions(0)
			}
		}
	})
}
