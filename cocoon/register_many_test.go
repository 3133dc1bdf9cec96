package cocoon

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

func limitOf(i int) TimeLimit {
	return TimeLimit{Func: fmt.Sprintf("task-%d", i), Limit: 100 * time.Millisecond}
}

// withoutLooks keeps looks from beginning, which allocate for each policy.
func withoutLooks(rt *Runtime) *Runtime {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	rt.look.running = true
	return rt
}

// registerLimits registers so many limits one by one.
func registerLimits(tb testing.TB, rt *Runtime, n int) []*Registration {
	all := make([]*Registration, n)
	for i := range all {
		r, err := rt.RegisterTimeLimit(limitOf(i))
		if err != nil {
			tb.Fatal(err)
		}
		all[i] = r
	}
	return all
}

// TestRegistrationAmongMany counts what registering and withdrawing one policy allocates: it does
// not depend on the number of other policies. Each registration used to look at all of them.
func TestRegistrationAmongMany(t *testing.T) {
	among := func(n int) float64 {
		rt := withoutLooks(start(t, Config{}))
		registerLimits(t, rt, n)
		i := n
		return testing.AllocsPerRun(longtest.Count(50, 10), func() {
			i++
			r, err := rt.RegisterTimeLimit(limitOf(i))
			if err != nil {
				t.Fatal(err)
			}
			r.Cancel()
		})
	}
	others := longtest.Count(1500, 100)
	few, many := among(20), among(others)
	if many > few*1.3 {
		t.Errorf("a registration among %d policies makes %v allocations, and among 20 %v; want about as many", others, many, few)
	}
}

// TestRegistrationOfNamesAmongMany counts what registering a policy allocates if the policies refer
// to names that the runtime awaits. Each registration used to collect the names of all of them.
func TestRegistrationOfNamesAmongMany(t *testing.T) {
	for _, form := range []string{
		`arriving.labels.user == "u%d" and queue.length > 100 ? throw("x") : continue()`,
		`arriving.labels.k%d == "gold" and queue.length > 100 ? throw("x") : continue()`,
		`arriving.labels.user in pattern("u%d-*") and queue.length > 100 ? throw("x") : continue()`,
		`state.bykey["u%d"] > 5 ? throw("x") : add("bykey", arriving.labels.user, 1)`,
		`tenant.name == "t%d" and queue.length > 100 ? throw("x") : continue()`,
	} {
		among := func(n int) float64 {
			rt := withoutLooks(start(t, Config{}))
			must(t, rt.RegisterState(map[string]any{"bykey": Keyed{First: 0, Keys: 9}}))
			must(t, rt.RegisterTenants(Tenants{Label: "tenant"}))
			i := 0
			register := func() {
				i++
				_, err := rt.RegisterPolicy(Policy{Name: fmt.Sprint("p", i), On: OnEnqueue, Expr: fmt.Sprintf(form, i)})
				must(t, err)
			}
			for range n {
				register()
			}
			return testing.AllocsPerRun(longtest.Count(50, 10), register)
		}
		others := longtest.Count(1500, 100)
		if few, many := among(20), among(others); many > few*1.3 {
			t.Errorf("%s: a registration among %d policies makes %v allocations, and among 20 %v; want about as many", form, others, many, few)
		}
	}
}

// TestLooksAreShared registers policies while the runtime looks at the first one. They share one
// look, which logs the warnings about all.
func TestLooksAreShared(t *testing.T) {
	rt := withoutLooks(start(t, Config{})) // as while a look goes on
	registerLimits(t, rt, 100)
	s := rt.toLookAt()
	if s == nil || len(s.added) != 100 || len(s.members) != 100 {
		t.Fatalf("the look sees %+v, want 100 policies", s)
	}
	if rt.toLookAt() != nil || rt.look.running {
		t.Error("another look follows, want none: no policy has changed")
	}
}

// BenchmarkRegisterMany registers a thousand limits one by one, and withdraws them.
func BenchmarkRegisterMany(b *testing.B) {
	for b.Loop() {
		for _, r := range registerLimits(b, start(b, Config{}), 1000) {
			r.Cancel()
		}
	}
}

// BenchmarkLoadMany loads a document of 2000 limits again and again, with another limit in one line.
func BenchmarkLoadMany(b *testing.B) {
	rt := start(b, Config{})
	name := b.TempDir() + "/limits.yaml"
	for i := 0; b.Loop(); i++ {
		var text strings.Builder
		text.WriteString("version: 1\nlimits:\n")
		for k := range 2000 {
			limit := 100
			if k == i%2000 {
				limit++
			}
			fmt.Fprintf(&text, "  - {func: task-%d, limit: %dms}\n", k, limit)
		}
		if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
			b.Fatal(err)
		}
		if err := rt.LoadPolicyFile(name); err != nil {
			b.Fatal(err)
		}
	}
}
