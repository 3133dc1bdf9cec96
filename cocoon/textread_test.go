package cocoon

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// A value computed from a label depends on its text alone, on arrival and later, for any size.
func TestTakenOfLabels(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"level": 0, "share": 0.0, "hash": 0}))
	register(t, rt, Policy{Name: "take", On: policy.On(stubs.Enqueue), Expr: `
		set("level", int(arriving.labels.level, 3));
		set("share", float(arriving.labels.share, 0.5));
		set("hash", hash(arriving.labels.user, arriving.name, "x", 7))`})
	must(t, rt.RegisterState(map[string]any{"same": false}))
	register(t, rt, Policy{Name: "later", On: policy.On(stubs.Start), Expr: `
		set("same", hash(task.labels.user, task.name, "x", 7) == state.hash and int(task.labels.level) % 2 == 0)`})
	megabyte := strings.Repeat("9", 1<<20)
	for _, c := range []struct {
		level, share, user string
		wantLevel          int64
		wantShare          float64
	}{
		{"12", "0.25", "ada", 12, 0.25}, {"", "", "", 3, 0.5}, {"-4", "-1e3", "β", -4, -1000}, {"+6", "+.5", "a", 6, 0.5},
		{" 5", "1 ", "a", 3, 0.5}, {"1e3", "nan", "a", 3, 0.5}, {"0x10", "0x1p3", "a", 3, 0.5}, {"1_000", "inf", "a", 3, 0.5},
		{"9223372036854775807", "1e999", "a", 9223372036854775807, 0.5}, {"9223372036854775808", "1_0", "a", 3, 0.5},
		{megabyte, megabyte, megabyte, 3, 0.5}, {strings.Repeat("0", 1<<20) + "8", "7", "a", 3, 7},
	} {
		ctx := WithLabel(WithLabel(WithLabel(background, "level", c.level), "share", c.share), "user", c.user)
		must(t, rt.Run(ctx, "job", idle))
		want := ir.Mix(ir.Mix(ir.Mix(ir.Mix(0, ir.Hash(c.user)), ir.Hash("job")), ir.Hash("x")), 7)
		if rt.State("level") != c.wantLevel || rt.State("share") != c.wantShare || rt.State("hash") != int64(want) {
			t.Errorf("%.20q, %.20q, %.20q: %v, %v, %v; want %v, %v, %v", c.level, c.share, c.user,
				rt.State("level"), rt.State("share"), rt.State("hash"), c.wantLevel, c.wantShare, want)
		}
		later := c.wantLevel
		if later == 3 {
			later = 0 // there is no default
		}
		if rt.State("same") != (later%2 == 0) {
			t.Errorf("%.20q: another value on start", c.level)
		}
	}
}

// A time policy about a number in a label has no ticks for tasks with another.
func TestTakenIsFixed(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	r, err := rt.RegisterPolicy(Policy{Name: "level", On: policy.Every(time.Millisecond),
		Expr: `int(task.labels.level) == 7 and hash(task.labels.user) % 2 < 2 ? throw("level") : continue()`})
	must(t, err)
	run := func(level string, d time.Duration) error {
		return rt.Run(WithLabel(background, "level", level), "job", func(ctx context.Context) error {
			for until := time.Now().Add(d); time.Now().Before(until); {
				SafePoint(ctx)
			}
			return nil
		})
	}
	must(t, run("6", 20*time.Millisecond))
	if n := r.Stats().Evaluations; n != 0 {
		t.Errorf("%d evaluations about a task with another level", n)
	}
	if err := run("7", patience); err == nil || preemption(t, err).Reason != "level" {
		t.Errorf("not thrown into: %v", err)
	}
}

// With one seed a policy has the same draws each time, with another seed other draws, and each
// chance draws separately.
func TestChanceIsReplayed(t *testing.T) {
	draw := func(seed uint64) (said string, stats uint64) {
		rt := start(t, Config{Slots: 1, Seed: seed})
		must(t, rt.RegisterState(map[string]any{"a": false, "b": false, "c": false, "p": 0.3}))
		register(t, rt, Policy{Name: "draw", On: policy.On(stubs.Start), Expr: `
			set("a", chance(0.3)); set("b", chance(state.p)); set("c", chance(0.3) and chance(2.0 * state.p))`})
		for range 400 {
			must(t, rt.Run(background, "job", idle))
			for _, name := range []string{"a", "b", "c"} {
				if rt.State(name) == true {
					said += name
				} else {
					said += "."
				}
			}
		}
		return said, rt.Stats().Seed
	}
	one, seed := draw(7)
	if again, _ := draw(7); again != one || seed != 7 {
		t.Errorf("the same seed, and other draws; Stats.Seed is %d", seed)
	}
	if other, _ := draw(8); other == one {
		t.Error("other seeds, and the same draws")
	}
	unseeded, drawn := draw(0)
	if again, _ := draw(drawn); drawn == 0 || again != unseeded {
		t.Errorf("from Stats.Seed %d other draws", drawn)
	}
	for name, want := range map[string]int{"a": 120, "b": 120, "c": 72} {
		if n := strings.Count(one, name); n < want*7/10 || n > want*13/10 {
			t.Errorf("%s is drawn %d times of 400; want about %d", name, n, want)
		}
	}
	if strings.Count(one, "ab") > 80 {
		t.Error("two chances have one draw")
	}
}

// A probability outside 0 to 1, or NaN, is never true or always true.
func TestChanceBeyond(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"nan": false, "below": false, "above": false, "p": -1.0}))
	register(t, rt, Policy{Name: "draw", On: policy.On(stubs.Start), Expr: `
		set("nan", chance(sqrt(state.p))); set("below", chance(state.p)); set("above", chance(-state.p))`})
	for range 100 {
		must(t, rt.Run(background, "job", idle))
		if rt.State("nan") == true || rt.State("below") == true || rt.State("above") == false {
			t.Fatalf("NaN: %v, -1: %v, 1: %v", rt.State("nan"), rt.State("below"), rt.State("above"))
		}
	}
}
