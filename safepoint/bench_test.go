package safepoint

import "testing"

var sink uint64

// BenchmarkPoll compares a loop of cheap steps with the same loop polling at each.
func BenchmarkPoll(b *testing.B) {
	b.Run("without", func(b *testing.B) {
		x := sink
		for range b.N {
			x = x*6364136223846793005 + 1442695040888963407
		}
		sink = x
	})
	b.Run("with", func(b *testing.B) {
		x := sink
		for range b.N {
			x = x*6364136223846793005 + 1442695040888963407
			Poll()
		}
		sink = x
	})
	b.Run("only", func(b *testing.B) {
		for range b.N {
			Poll()
		}
	})
	b.Run("raised", func(b *testing.B) {
		withHook(b, func() {})
		Raise()
		for range b.N {
			Poll()
		}
		Lower()
	})
	b.Run("raise and lower", func(b *testing.B) {
		for range b.N {
			Raise()
			Lower()
		}
	})
}
