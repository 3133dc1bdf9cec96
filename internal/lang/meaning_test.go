package lang

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/ir/irtest"
	"github.com/cocoon-go/cocoon/stubs"
)

// TestMeaning evaluates conditions through Parse and Interpret.
func TestMeaning(t *testing.T) {
	values := map[string]any{
		"task.running": 1500 * time.Millisecond, "task.elapsed": 3 * time.Second, "task.deadline": -time.Second,
		"task.priority": -7, "task.name": "scan", "task.kind": "both", "task.section": "inner",
		"task.stack": []string{"outer", "inner", "inner"}, `task.labels["a"]`: "x",
		"queue.length": 7, "loop.slots": 2, "loop.utilization": 0.75, "runtime.heap": 3 << 20,
		"state.count": 5, "state.overloaded": true,
	}
	// Reads every one of the values, so that each condition finds its own among them.
	const all = `(task.running >= task.elapsed or task.deadline == task.running or task.priority == queue.length or
		task.name == task.section or task.kind == "safe" or task.labels.a in task.stack or loop.slots == state.count or
		loop.utilization > 1 or runtime.heap < bytes("1B") or not state.overloaded) ? switch() : `
	for text, want := range map[string]bool{
		`7 / 2 == 3 and -7 / 2 == -3 and -7 % 2 == -1`:                                                                   true,
		`queue.length / loop.slots == 3 and task.priority / loop.slots == -3 and task.priority % loop.slots == -1`:       true,
		`task.running / task.elapsed == 0.5`:                                                                             true,
		`task.running * 2 == task.elapsed and 2 * task.running == task.elapsed and 2.0 * task.running == task.elapsed`:   true,
		`task.elapsed / 2 == task.running and task.elapsed / 2.0 == task.running`:                                        true,
		`task.elapsed % task.running == duration("0s") and task.elapsed % duration("2s") == duration("1s")`:              true,
		`task.elapsed - task.running == task.running and task.running + task.running == task.elapsed`:                    true,
		`-task.deadline == duration("1s") and abs(task.deadline) == duration("1s") and abs(task.priority) == 7`:          true,
		`abs(-2.5) == 2.5 and abs(loop.utilization) == 0.75 and abs(3) == 3`:                                             true,
		`min(queue.length, 3, loop.slots + 1) == 3 and max(queue.length, 3, loop.slots * 9) == 18`:                       true,
		`max(loop.utilization, 1) == 1 and min(1, loop.utilization) == 0.75 and min(2, 3) == 2 and max(2, 3) == 3`:       true,
		`int(loop.utilization * 10) == 7 and int(-loop.utilization * 10) == -7 and float(queue.length) / 2 == 3.5`:       true,
		`runtime.heap == bytes("3MiB") and runtime.heap / bytes("2MiB") == 1.5 and bytes("1kB") == bytes("1000B")`:       true,
		`1 < queue.length < 8 and not (7 < queue.length < 9)`:                                                            true,
		`-8 < task.priority < -6 <= -6 < 0`:                                                                              true,
		`queue.length in [1, 7] and queue.length + 1 in [1, 8] and queue.length not in [1, 2] and queue.length in 7..7`:  true,
		`queue.length + 1 in 8..9 and queue.length not in 8..9 and task.priority in -9..-1`:                              true,
		`loop.utilization in [0, 0.75, 1]`:                                                                               true,
		`task.running in [duration("1s"), duration("1500ms")]`:                                                           true,
		`task.name in ["get", "scan"] and task.name not in ["get"] and task.kind in ["both"]`:                            true,
		`"outer" in task.stack and task.section in task.stack and "x" not in task.stack and task.name not in task.stack`: true,
		`count(task.stack, # == "inner") == 2 and count(task.stack, true) == 3 and any(task.stack, # == "outer")`:        true,
		`all(task.stack, # != "") and none(task.stack, # == "x") and not all(task.stack, # == "inner")`:                  true,
		`count(1..10, # % 2 == 0) == 5 and any(-3..-1, # == -2)`:                                                         true,
		`count(1..3, count(task.stack, # == "inner") == 2 and # > 1) == 2`:                                               true,
		`let a = queue.length; let b = a * 2; let c = 3; b == 14 and a in 1..9 and c == 3`:                               true,
		`(state.overloaded ? queue.length : 0) == 7 and (not state.overloaded ? 1 : 2.5) == 2.5`:                         true,
		`(if state.overloaded { "a" } else { task.name }) == "a"`:                                                        true,
		`task.labels.a == "x" and task.labels["a"] != "y" and task["labels"]["a"] == "x"`:                                true,
		`(let n = queue.length; "scan") == task.name and (let n = queue.length; n + 1) == 8`:                             true,
		`false or true and not false`:           true,
		`not state.overloaded == false`:         true,
		`true ? false : true`:                   false,
		`2 + 3 * 4 - 10 / 5 % 3 == 12`:          true,
		`1 - 2 - 3 == -4 and 100 / 10 / 5 == 2`: true,
		// A duration beyond the greatest is the greatest.
		`let most = duration("2562047h47m16s854775807ns"); task.elapsed * 9000000000000000000 == most and task.elapsed + most == most`:            true,
		`let most = duration("2562047h47m16s854775807ns"); -most - task.elapsed < -most and -(-most - task.elapsed) == most`:                      true,
		`let most = duration("2562047h47m16s854775807ns"); task.elapsed * 1e300 == most and task.elapsed * -1e300 < -most`:                        true,
		`let most = duration("2562047h47m16s854775807ns"); (-most - task.elapsed) / (queue.length - 8) == most and most * -task.priority == most`: true,

		`state.count == 5 and state.overloaded != false`: true,
	} {
		p, err := Parse(all+`((`+text+`) ? throw("yes") : continue())`, testEnv)
		if err != nil {
			t.Errorf("%+v", err)
			continue
		}
		out := irtest.Evaluate(t, p, values)
		if got := out.Decision == stubs.Throw; got != want || out.Decision == stubs.Switch {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
}

// The greater and the lesser of a float and NaN are NaN, whichever comes first.
func TestExtremesOfNaN(t *testing.T) {
	for _, text := range []string{
		`max(1.0, state.ratio)`, `max(state.ratio, 1.0)`, `min(1.0, state.ratio)`, `min(state.ratio, 1.0)`,
		`min(1.0, max(0.0, state.ratio))`, `max(2.0, state.ratio, 1.0)`,
	} {
		p, err := Parse(`let x = `+text+`; x == x ? throw("x") : set("ratio", x)`, testEnv)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := ir.Interpret(p, []uint64{math.Float64bits(math.NaN())}); !errors.Is(err, ir.ErrNotANumber) {
			t.Errorf("%s of NaN: %v", text, err)
		}
	}
}

// TestRunTimeErrors says where an evaluation failed.
func TestRunTimeErrors(t *testing.T) {
	for text, want := range map[string]error{
		`state.count + 9223372036854775807 > 0`:                                     ir.ErrOverflow,
		`-(state.count - 9223372036854775807 - 4) * 2 > 0`:                          ir.ErrOverflow,
		`1 / (state.count - 5) > 0`:                                                 ir.ErrDivideByZero,
		`duration("1s") / (state.count - 5) > duration("1s")`:                       ir.ErrDivideByZero,
		`1 % (state.count - 5) > 0`:                                                 ir.ErrDivideByZero,
		`int(state.ratio * 1e300) > 0`:                                              ir.ErrConversion,
		`duration("1h") * (state.ratio / (state.ratio - 1) * 0.0) > duration("1s")`: ir.ErrConversion, // NaN
		`set("ratio", 0.0 / (state.ratio - 1)); true`:                               ir.ErrNotANumber,
		`int((state.ratio - state.ratio) / (state.ratio - 1)) >= 0`:                 ir.ErrConversion, // 0/0
	} {
		p, err := Parse(`set("count", 1); `+text+` ? throw("x") : continue()`, testEnv)
		if err != nil {
			t.Errorf("%+v", err)
			continue
		}
		snapshot := make([]uint64, p.Words)
		for _, r := range p.Reads {
			v := any(5)
			if r.Type == stubs.Float {
				v = 1.0
			}
			snapshot[r.Offset], _, _ = stubs.Word(v)
		}
		out, _, err := ir.Interpret(p, snapshot)
		var ee *ir.EvalError
		if !errors.Is(err, want) || !errors.As(err, &ee) || ee.Pos < len(`set("count", 1); `)-1 {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
		if out.Decision != stubs.Continue || out.Fired != 0 {
			t.Errorf("%s: outcome %+v", text, out)
		}
	}
}

// TestFoldingAgrees compares every constant operation with the same one that the interpreter
// carries out.
func TestFoldingAgrees(t *testing.T) {
	numbers := []string{"0", "1", "-1", "2", "-7", "9223372036854775807", "-9223372036854775807", "4611686018427387904"}
	for _, a := range numbers {
		for _, b := range numbers {
			for _, op := range []string{"+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="} {
				compareFold(t, a, op, b)
			}
		}
	}
}

func compareFold(t *testing.T, a, op, b string) {
	t.Helper()
	wrap := func(x, y string) string {
		switch op {
		case "+", "-", "*", "/", "%":
			return `set("count", ` + x + op + y + `)`
		}
		return `set("overloaded", ` + x + op + y + `)`
	}
	slow, err := Parse(wrap("("+a+")", "(state.count * 0 + ("+b+"))"), testEnv)
	if err != nil {
		t.Fatal(err)
	}
	want, _, wantErr := ir.Interpret(slow, make([]uint64, slow.Words))
	fast, err := Parse(wrap("("+a+")", "("+b+")"), testEnv)
	if (err != nil) != (wantErr != nil) {
		t.Errorf("%s %s %s: folded %v, run %v", a, op, b, err, wantErr)
	}
	if err != nil || wantErr != nil {
		return
	}
	if operand := fast.Root.A.A; operand.Op != ir.OpConst || operand.Imm != want.Values[0] {
		t.Errorf("%s %s %s: folded to %v, run %v", a, op, b, operand, want.Values[0])
	}
}
