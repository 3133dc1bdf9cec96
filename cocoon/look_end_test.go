package cocoon

import (
	"testing"

	"github.com/cocoon-go/cocoon/analyzer"
)

// A look at many policies ends with the runtime, and a look at few is waited for.
func TestLookEndsWithTheRuntime(t *testing.T) {
	rt := withoutLooks(start(t, Config{}))
	registerLimits(t, rt, fewToLookAt+1)
	s := rt.toLookAt()
	must(t, rt.Shutdown(background))
	never := make(chan struct{})
	defer close(never)
	if _, whole := rt.remarksOf(s, func() []analyzer.Remark { <-never; return nil }); whole {
		t.Error("the look is whole, want it to end with the runtime")
	}
	s.members = s.members[:fewToLookAt]
	if _, whole := rt.remarksOf(s, s.remarks); !whole {
		t.Errorf("a look at %d policies is not whole", fewToLookAt)
	}
}
