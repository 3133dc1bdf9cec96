package cocoon

import (
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
)

// A version that goes out of force during a look is not warned of. The next look warns of the
// version in its place.
func TestWithdrawnDuringALook(t *testing.T) {
	var log journal
	rt := withoutLooks(start(t, Config{Logger: log.logger()}))
	register := func(name, expr string) *Registration {
		r, err := rt.RegisterPolicy(Policy{Name: name, On: OnEnqueue, Expr: expr})
		must(t, err)
		return r
	}
	warned := func(name string) int {
		rt.log.flush()
		return strings.Count(log.String(), "policy="+name)
	}
	register(policy.OrderName, `rank(arriving.priority)`)
	second := register("second", `rank(-arriving.priority)`) // only together with the first
	gone := register("gone", `queue.length < 10 ? throw("x") : continue()`)
	kept := register("kept", `queue.length < 10 ? throw("x") : continue()`)
	s := rt.toLookAt()
	gone.Cancel()
	must(t, second.Update(second.Policy()))
	must(t, kept.Update(kept.Policy()))
	rt.tellRemarks(s, s.remarks())
	for _, name := range []string{"gone", "second", "kept"} {
		if n := warned(name); n != 0 {
			t.Errorf("%d warnings of %s, which is not in force; want none", n, name)
		}
	}
	s = rt.toLookAt()
	rt.tellRemarks(s, s.remarks())
	for _, name := range []string{"second", "kept"} {
		if n := warned(name); n != 1 {
			t.Errorf("%d warnings of %s; want one:\n%s", n, name, log.String())
		}
	}
}
