package cocoon

import (
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/lang"
)

// awaitedPatterns are the patterns of a label's values, or of events, by their texts.
type awaitedPatterns struct {
	growing[string, *awaitedPattern]
}

// awaitedPattern is a pattern, and whether a value has matched it.
type awaitedPattern struct {
	lang.Pattern
	met atomic.Bool
}

// meets notes the patterns that a value matches. A pattern that was met before costs a load.
func (a *awaitedPatterns) meets(text string) {
	for _, layer := range a.layers() {
		for _, p := range layer {
			if !p.met.Load() && p.Matches(text) {
				p.met.Store(true)
			}
		}
	}
}

// met reports whether the pattern was met.
func (a *awaitedPatterns) met(pattern string) bool {
	p, _ := a.get(pattern)
	return p != nil && p.met.Load()
}

func newAwaitedPattern(text string, met bool) *awaitedPattern {
	p := new(awaitedPattern)
	p.Pattern, _ = lang.ParsePattern(text)
	p.met.Store(met)
	return p
}
