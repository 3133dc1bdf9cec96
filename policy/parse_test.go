package policy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/stubs"
)

// goodPolicies parse in testEnv.
var goodPolicies = []string{
	`state.spent[task.labels.user] > duration("1s") and take("requests", "gold", 2) or not take("bucket", 0.5) ? throw("x") : max("spent", task.name, task.running)`,
	`let who = task.name; let ok = take("requests", who, queue.length); (ok ? state.bucket : state.requests[who]) > 1 ? switch() : add("spent", who, duration("1s"))`,
	`continue()`,
	`switch()`,
	`throw("x");`,
	`set("overloaded", true)`,
	`cancel()`,
	`task.name in pattern("GET /*") and task.labels["a"] not in pattern("*b*") ? throw("x") : continue()`,
	`task.name == "x" and task.name in pattern("*") or task.sections[pattern("json.*")] > duration("1s") ? throw("x") : continue()`,
	`call("Alarm"); switch()`,
	`interval(duration("1ms")); continue()`,
	`interval(max(task.running / 100, duration("5us")))`,
	`// a comment
	 task.running > duration("1s") /* another */ ? throw("late") : continue()`,
	`task.section == "regex.match" && task.section_running > duration("100ms") ? throw("regex took too long") : continue()`,
	`if task.kind == "both" { switch() } else if task.kind != "safe" { set("count", 1); continue() } else { continue() }`,
	`if state.overloaded { set("count", 1) } else { set("count", 2) }; switch()`,
	`(state.overloaded ? set("count", 1) : call("Alarm")); continue()`,
	`let a = 1; let b = a + 1; let r = "why"; state.count > b ? throw(r) : continue()`,
	`set("count", 1); let x = state.count + 1; set("count", x); continue()`,
	`let k = "tenant"; task.labels[k] == "acme" and task.labels.tenant != "" and task["labels"]["x"] in ["a", "b",] ? switch() : continue()`,
	`task.sections["regex.match"] > duration("-1m30s") or not task.cancelled ? switch() : continue()`,
	`task.kind in ["both", "safe"] and task.kind not in ["atomic"] ? switch() : continue()`,
	`task.priority in 1..5 and task.priority + 1 in [-1, 2, 3] and not (task.priority in -9..-3) ? switch() : continue()`,
	`1 < task.priority <= 3 < 5 ? switch() : continue()`,
	`"regex" in task.stack and task.section in task.stack and "x" not in task.stack ? switch() : continue()`,
	`let user = task.labels.user; hash(user, "a", 3) % 100 < 5 and user in pattern("a*") and user != "" ? switch() : continue()`,
	`let level = int(task.labels.level, -3); float(tenant.name) > 0.5 and level in 1..3 ? throw("busy", duration("1s") * level) : throw("x", task.waited)`,
	`state.pairs[task.name][3] > state.pairs.a[task.priority] ? add("pairs", tenant.name, int(task.labels.shard), 1) : set("pairs", "a", -1, 0)`,
	`chance(0.0) or chance(1.0) ? switch() : continue()`,
	`chance(0.5) and chance(state.ratio) and not (chance(1 / 4.0) or 1 < (chance(0.5) ? 2 : 3) < 4) ? switch() : continue()`,
	`clamp(state.ratio, 0, 1) * sqrt(2) > sqrt(state.ratio) and clamp(task.running, duration("1s"), task.waited) > duration("0s") ? switch() : continue()`,
	`clock.hour in 2..4 and clock.minute == 30 and clock.weekday not in [0, 6] ? background() : continue()`,
	`task.priority in [1, 2, 3, 4, 5, 6, 7, 8, -9] and task.name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "i",] ? switch() : continue()`,
	`any(task.stack, # == "a") or all(task.stack, {# != task.name}) or none(task.stack, # in ["x"]) ? switch() : continue()`,
	`count(task.stack, # == "a") > 2 or count(task.stack, true) == 16 ? switch() : continue()`,
	`any(1..10, # * # > task.priority) ? switch() : continue()`,
	`any(1..3, any(task.stack, # == "a") and # > 1 and count(2..3, # == 2) == 1) ? switch() : continue()`,
	`any(task.stack, let s = #; s == "x" or s == "y") ? switch() : continue()`,
	`task.running * 2 > duration("1s") and 0.5 * task.running < task.elapsed and task.running * 0.5 < task.elapsed ? switch() : continue()`,
	`task.running / task.elapsed > 0.5 and task.running / 2 > duration("1s") and task.running / 1.5 > duration("1s") ? switch() : continue()`,
	`task.running % duration("1s") < duration("1ms") and queue.length % 2 == 0 ? switch() : continue()`,
	`runtime.heap > bytes("1.5GiB") and runtime.heap / bytes("1MiB") > 10 and runtime.heap - bytes("1kB") > state.size ? switch() : continue()`,
	`loop.utilization > 1 / 2.0 and loop.utilization * 2 > 1 and float(queue.length) / float(loop.slots) >= 2 ? switch() : continue()`,
	`int(loop.utilization * 100) > 90 and int(3) == 3 and float(1.5) > 1 ? switch() : continue()`,
	`min(1, queue.length, 3) < max(queue.length, loop.slots + 1) and abs(task.priority - 1) > 1 and abs(-3) == 3 and min(1, 2.5) < loop.utilization ? switch() : continue()`,
	`abs(task.deadline) < duration("1s") and -task.deadline < duration("1s") and +task.deadline < duration("1s") ? switch() : continue()`,
	`state.overloaded == true and state.mode == "x" and state["mode"] != task.name ? set("mode", "y") : set("mode", task.name)`,
	`set("ratio", 1); set("ratio", 0.5); set("budget", task.running); set("size", bytes("1B")); set("mode", cond)` + "",
	`set("mode", state.overloaded ? "a" : task.name)`,
	`(state.overloaded ? 1 : 2.5) > loop.utilization ? switch() : continue()`,
	`(task.cancelled ? task.kind : task.kind) == "both" ? switch() : continue()`,
	`task.name == "日本" ? throw("é") : continue()`,
	`1 == 1.0 and 0x10 == 16 and 1_000 == 1e3 and duration("1s") == duration("1000ms") and bytes("1KiB") == bytes("1024B") ? switch() : continue()`,
	`task.name == 'a' or task.name == "b\"\u00e9" or task.name == ` + "`c`" + ` ? switch() : continue()`,
}

func init() { // one entry above needs a let
	for i, s := range goodPolicies {
		if strings.HasSuffix(s, `set("mode", cond)`) {
			goodPolicies[i] = `let cond = "c"; ` + s
		}
	}
}

func TestParseGood(t *testing.T) {
	for _, text := range goodPolicies {
		p, err := Parse(text, testEnv)
		if err != nil {
			t.Errorf("%+v", err)
			continue
		}
		checkProgram(t, p)
	}
}

// badPolicies are refused in testEnv; want is line:column: and a part of the message.
var badPolicies = []struct{ text, want string }{
	{`task.running > 100 ? switch() : continue()`, `1:1: task.running is a duration and 100 is a plain number; write duration("100ms")`},
	{`100 < task.running ? switch() : continue()`, `1:1: 100 is a plain number and task.running is a duration; write duration("100ms")`},
	{`task.running > "100ms" ? switch() : continue()`, `; write duration("100ms")`},
	{`runtime.heap > 100 ? switch() : continue()`, `; write bytes("100MiB")`},
	{`runtime.heap > task.running ? switch() : continue()`, `runtime.heap is a size in bytes and task.running is a duration`},
	{`task.name == 3 ? switch() : continue()`, `task.name is a name and 3 is a plain number; write "3"`},
	{`queue.length > 0.5 ? switch() : continue()`, `queue.length is a count and 0.5 is a plain number; write float(queue.length)`},
	{`queue.length * loop.utilization > 1 ? switch() : continue()`, `write float(queue.length)`},
	{`task.running + 1 > duration("1s") ? switch() : continue()`, `1:1: task.running is a duration and 1 is a plain number`},
	{`task.running * task.running > duration("1s") ? switch() : continue()`, `1:1: the product of two values of type duration has no meaning`},
	{`1 / task.running > 1 ? switch() : continue()`, `1 is a plain number and task.running is a duration`},
	{`task.running % 2 > duration("1s") ? switch() : continue()`, `task.running is a duration and 2 is`},
	{`loop.utilization % 2 > 1 ? switch() : continue()`, `% works on whole numbers`},
	{`task.cancelled + true ? switch() : continue()`, `+ works on numbers, and task.cancelled is a bool`},
	{`task.cancelled > false ? switch() : continue()`, `bools have no order`},
	{`task.name < "x" ? switch() : continue()`, `names have no order`},
	{`task.name + "x" == "y" ? switch() : continue()`, `1:1: strings cannot be built`},
	{`-task.name == "y" ? switch() : continue()`, `1:1: a sign needs a number, and task.name is a name`},
	{`not task.running ? switch() : continue()`, `1:5: what not negates must be a bool, and task.running is a duration; compare it`},
	{`task.running and true ? switch() : continue()`, `1:1: what and joins must be a bool`},
	{`task.running ? switch() : continue()`, `1:1: the condition must be a bool`},
	{`task.stack == task.stack ? switch() : continue()`, `lists cannot be compared`},
	{`9223372036854775807 + 1 > 0 ? switch() : continue()`, `1:1: 9223372036854775807 + 1 overflows`},
	{`duration("2000000h") * 2 > task.running ? switch() : continue()`, `overflows`},
	{`1e308 * 10 > loop.utilization ? switch() : continue()`, `1:1: 1e308 * 10 overflows`},
	{`int(1e30) > 0 ? switch() : continue()`, `1:1: int(1e30) overflows`},
	{`queue.length + (1 / 0) > 0 ? switch() : continue()`, `1:16: (1 / 0) divides by zero`},
	{`1.0 / 0 > 0 ? switch() : continue()`, `divides by zero`},
	{`5 % (2 - 2) > 0 ? switch() : continue()`, `divides by zero`},
	{`9007199254740993 > loop.utilization ? switch() : continue()`, `9007199254740993 is no exact floating-point number`},
	{`99999999999999999999 > queue.length ? switch() : continue()`, `1:1: the number 99999999999999999999 is too large`},
	{`1e999 > loop.utilization ? switch() : continue()`, `1:1: the number 1e999 is too large`},
	{`0x10000000000000000 > queue.length ? switch() : continue()`, `too large`},
	{`task.kind == "fast" ? switch() : continue()`, `1:14: there is no kind "fast"; write "atomic", "preemptible", "safe" or "both"`},
	{`"fast" != task.kind ? switch() : continue()`, `1:1: there is no kind "fast"`},
	{`task.kind in ["both", "all"] ? switch() : continue()`, `1:23: there is no kind "all"`},
	{`let k = task.kind; k == "fast" ? switch() : continue()`, `1:25: there is no kind "fast"`},

	{`task.runing > duration("1s") ? switch() : continue()`, `1:1: there is no state stub task.runing; did you mean task.running?`},
	{`task.xyzzy == 1 ? switch() : continue()`, `; there is task.name, task.kind, `},
	{`queue.size > 3 ? switch() : continue()`, `there is no state stub queue.size; there is queue.length`},
	{`tsk.running > 3 ? switch() : continue()`, `1:1: there is no tsk; did you mean task?`},
	{`task > 3 ? switch() : continue()`, `task is a group of state stubs; write one of task.name`},
	{`state > 3 ? switch() : continue()`, `state needs the name of a state`},
	{`state.overloadd ? switch() : continue()`, `there is no state "overloadd"; did you mean overloaded?`},
	{`state.zzz ? switch() : continue()`, `register it, or give the policy a private state`},
	{`state.count.x > 1 ? switch() : continue()`, `state.count is an int and has no fields`},
	{`task.running.seconds > 1 ? switch() : continue()`, `task.running is a duration and has no fields; remove seconds`},
	{`task.labels == "x" ? switch() : continue()`, `task.labels needs a key; write task.labels["name"]`},
	{`task.labels[task.name] == "x" ? switch() : continue()`, `a key must be a string constant, and task.name is a name`},
	{`task.labels[""] == "x" ? switch() : continue()`, `the key of task.labels is empty`},
	{`task.stack[0] == "x" ? switch() : continue()`, `elements have no numbers; look at elements with any`},
	{`task.stack[0:1] == "x" ? switch() : continue()`, `there are no slices`},
	{`arriving.name == "x" ? switch() : continue()`, `1:1: arriving.name is not known on tick; it is set on enqueue only`},
	{`event.value > 1 ? switch() : continue()`, `event.value is not known on tick; it is set on custom only`},
	{`foo ? switch() : continue()`, `1:1: there is no foo; state stubs begin with`},
	{`$env.task ? switch() : continue()`, `1:1: there is no $env`},
	{`let x = 1; x.y == 2 ? switch() : continue()`, `x is a plain number and has no fields`},
	{`let x = 1; let x = 2; continue()`, `1:16: x is already the name of a value`},
	{`let task = 1; continue()`, `1:5: task already means something else`},
	{`let state = 1; continue()`, `state already means`},
	{`let min = 1; continue()`, `min already means`},
	{`let l = task.stack; continue()`, `1:9: a list cannot be named`},

	{`len(task.stack) > 3 ? switch() : continue()`, `1:1: there is no function len; write queue.length, or count(task.stack, true)`},
	{`now() > 3 ? switch() : continue()`, `there is no function now; write task.elapsed`},
	{`date("2020") > 3 ? switch() : continue()`, `there is no function date`},
	{`trow("x")`, `there is no function trow; did you mean throw?`},
	{`frobnicate(1)`, `there is no function frobnicate; the functions are duration, bytes, int, float, min, max, abs, sqrt, clamp, hash, chance, pattern, rate, average, take, any, all, none and count`},
	{`filter(task.stack, # == "x") == 1 ? switch() : continue()`, `there is no function filter; write count, any, all or none`},
	{`task.("a") ? switch() : continue()`, `1:7: expected name`},
	{`task.name() == "x" ? switch() : continue()`, `is no function`},
	{`duration("100") > task.running ? switch() : continue()`, `1:10: "100" has no unit; write it like duration("100ms")`},
	{`duration(100) > task.running ? switch() : continue()`, `what duration reads must be a string constant, and 100 is a plain number`},
	{`duration("soon") > task.running ? switch() : continue()`, `invalid duration "soon"`},
	{`duration("300000000h") > task.running ? switch() : continue()`, `invalid duration`},
	{`duration() > task.running ? switch() : continue()`, `duration takes 1 argument, not 0`},
	{`duration(task.name) > task.running ? switch() : continue()`, `must be a string constant`},
	{`bytes("1") > runtime.heap ? switch() : continue()`, `"1" has no unit; write it like bytes("64MiB")`},
	{`bytes("1.1KiB") > runtime.heap ? switch() : continue()`, `"1.1KiB" is not a whole number of bytes`},
	{`bytes("xMiB") > runtime.heap ? switch() : continue()`, `"xMiB" does not begin with a number`},
	{`bytes("1e30MiB") > runtime.heap ? switch() : continue()`, `"1e30MiB" is too large`},
	{`add("overloaded", true)`, `add() is for numbers, and the state overloaded is a bool; write set(...)`},
	{`add("mode", "x")`, `add() is for numbers, and the state mode is a name`},
	{`min("mode", "x")`, `min() is for numbers, and the state mode is a name`},
	{`add("count", 1.5)`, `the state count is an int and 1.5 is a plain number`},
	{`max("budget", 5)`, `the state budget is a duration and 5 is a plain number; write duration("5ms")`},
	{`max("count", 1, 2)`, `the state count has no keys; write max("count", value)`},
	{`add("count")`, `add takes 2 arguments, not 1`},
	{`add("lost", 1)`, `there is no state "lost"`},
	{`add("count", 1) > 2 ? switch() : continue()`, `add() is an effect and no value`},
	{`max(1, 2)`, `a policy ends in a verdict, and max(1, 2) is`},
	{`bytes("NaNB") > runtime.heap ? switch() : continue()`, `does not begin with a number`},
	{`int(task.running) > 3 ? switch() : continue()`, `1:1: task.running is a duration; divide by a unit, as in task.running / duration("1ms")`},
	{`float(runtime.heap) > 3 ? switch() : continue()`, `divide by a unit, as in runtime.heap / bytes("1MiB")`},
	{`int("3") > 3 ? switch() : continue()`, `int takes numbers, and names that a state stub reads, and "3" is a string`},
	{`min(1) > 3 ? switch() : continue()`, `min takes 2 or more arguments, not 1`},
	{`min(1, task.running) > 3 ? switch() : continue()`, `1 is a plain number and task.running is a duration`},
	{`max("a", "b") == "a" ? switch() : continue()`, `max compares numbers, and "b" is a string`},
	{`abs(task.name) == 1 ? switch() : continue()`, `abs takes a number`},

	{`task.name matches "a.*" ? switch() : continue()`, `1:11: there is no operator matches; regular expressions have no bound`},
	{`task.name contains "a" ? switch() : continue()`, `there is no operator contains`},
	{`task.name not startsWith "a" ? switch() : continue()`, `there is no operator startsWith`},
	{`2 ** 3 > 1 ? switch() : continue()`, `1:3: there is no operator **; multiply`},
	{`2 ^ 3 > 1 ? switch() : continue()`, `there is no operator ^`},
	{`task.name ?? "x" == "x" ? switch() : continue()`, `there is no operator ??`},
	{`task?.name == "x" ? switch() : continue()`, `there is no operator ?.`},
	{`task.stack | any(# == "x") ? switch() : continue()`, `there is no operator |`},
	{`::min(1, 2) > 1 ? switch() : continue()`, `there is no operator ::`},
	{`b"x" == task.name ? switch() : continue()`, `there are no byte strings`},
	{`task.name == nil ? switch() : continue()`, `1:14: there is no nil`},
	{`task.name == {"a": 1} ? switch() : continue()`, `there are no maps`},
	{`task.name == ["a"] ? switch() : continue()`, `a list is no value`},
	{`1..3 == 1 ? switch() : continue()`, `a range is no value`},
	{`task.cancelled ?: switch()`, `there is no operator ?:`},
	{`(set("count", 1); true) ? switch() : continue()`, `write effects as statements of their own`},
	{`task.labels.foo = "x" ? switch() : continue()`, `1:17: unexpected "="; compare with ==`},
	{`task.cancelled & true ? switch() : continue()`, `unexpected "&"; write and, or`},
	{`# == 1 ? switch() : continue()`, `unexpected "#"; # is the element of`},
	{`task.cancelled @ true`, `1:16: unrecognized character: U+0040 '@'`},
	{`task.name == "x`, `literal not terminated`},
	{`/* x`, `unclosed comment`},
	{`task.cancelled ? switch()`, `1:26: the text ends too early`},
	{`queue.oldest > 2s ? switch() : continue()`, `1:16: "2s" is no number; write duration("2s")`},
	{`task.running>1.5ms`, `1:14: "1.5ms" is no number; write duration("1.5ms")`},
	{`task.running > 10µs`, `1:16: "10µs" is no number; write duration("10µs")`},
	{`runtime.heap > 64MiB ? switch() : continue()`, `1:16: "64MiB" is no number; write bytes("64MiB")`},
	{`queue.length > 3x`, `1:16: "3x" is no number`},
	{`if task.cancelled { switch() }`, `1:31: the text ends too early; an if needs an else`},
	{`if task.cancelled { switch() } continue()`, `1:32: unexpected "continue"; an if needs an else`},
	{`continue() continue()`, `1:12: unexpected "continue"; statements are separated by ;`},
	{`continue(`, `1:9: ( is never closed`},
	{`continue())`, `1:11: ) was never opened`},
	{`continue(]`, `1:10: ] does not close (`},
	{"let x = 1;\n\n  throw(x)", `3:9: a reason must be a string constant, and x is a plain number`},
	{"\"日本\" == task.name and\n\t\"é\" == tsk.name ? switch() : continue()", `2:9: there is no tsk`},

	{`task.running`, `1:1: a policy ends in a verdict, and task.running is a duration; write ... ? throw("reason") : continue()`},
	{`task.cancelled ? true : continue()`, `1:18: a policy ends in a verdict, and true is a bool`},
	{`switch(); continue()`, `1:1: switch() does not end the policy here; write the verdict at the end`},
	{`(task.cancelled ? switch() : set("count", 1)); continue()`, `1:19: switch() does not end the policy here`},
	{`task.cancelled; continue()`, `1:1: task.cancelled is a bool that nothing uses`},
	{`switch() ? switch() : continue()`, `1:1: switch() is a verdict and no value`},
	{`set("count", 1) ? switch() : continue()`, `1:1: set() is an effect and no value`},
	{`any(task.stack, cancel()) ? switch() : continue()`, `cancel() is an effect and no value`},
	{`let x = switch(); continue()`, `switch() is a verdict and no value`},
	{`set("count", continue())`, `continue() is a verdict and no value`},
	{`throw("")`, `1:7: the reason is empty`},
	{`throw()`, `throw takes 1 argument, not 0`},
	{`throw(task.name)`, `a reason must be a string constant, and task.name is a name`},
	{`throw("a" + "b")`, `strings cannot be built`},
	{`throw("a\nb")`, `the string holds control characters`},
	{`throw("` + strings.Repeat("x", 257) + `")`, `the reason has 257 bytes, and 256 are allowed`},
	{`switch(1)`, `switch takes 0 arguments, not 1`},
	{`continue(1)`, `continue takes 0 arguments, not 1`},
	{`cancel(1)`, `cancel takes 0 arguments, not 1`},
	{`set("count")`, `set takes 2 arguments, not 1`},
	{`set("cuont", 1)`, `1:5: there is no state "cuont"; did you mean count?`},
	{`set(count, 1)`, `1:5: count is a function`},
	{`set(overloaded, true)`, `1:5: there is no overloaded; state stubs begin with task, arriving, tenant, class, queue, loop, runtime, clock, event or state; a name is a string in quotes`},
	{`set(task.name, 1)`, `the name of a state must be a string constant`},
	{`set("count", true)`, `1:14: the state count is an int and true is a bool`},
	{`set("count", 1.5)`, `the state count is an int and 1.5 is a plain number`},
	{`set("budget", 5)`, `the state budget is a duration and 5 is a plain number; write duration("5ms")`},
	{`set("budget", "5s")`, `; write duration("5s")`},
	{`call("Alrm")`, `1:6: no function "Alrm" is registered as safe; did you mean Alarm?`},
	{`call("Format")`, `no function "Format" is registered as safe; register it with RegisterSafeFunc`},
	{`call(task.name)`, `the name of a function must be a string constant`},
	{`interval(5)`, `an interval is a duration, and 5 is a plain number; write duration("5ms")`},
	{`interval(duration("1us"))`, `1:10: the interval 1µs is not between 5µs and 24h0m0s`},
	{`interval(duration("25h"))`, `the interval 25h0m0s is not between`},
	{strings.Repeat(`cancel();`, 65) + `continue()`, `1:577: the policy has more than 64 effects`},

	{`task.name in [] ? switch() : continue()`, `1:14: the list is empty`},
	{`task.name in ["a", task.section] ? switch() : continue()`, `1:20: a list holds constants, and task.section is a name`},
	{`task.name in ["a", 1] ? switch() : continue()`, `task.name is a name and 1 is a plain number`},
	{`task.running in [1, 2] ? switch() : continue()`, `; write duration("1ms")`},
	{`task.name in task.section ? switch() : continue()`, `1:14: task.section is no list; write x in`},
	{`task.name in "abc" ? switch() : continue()`, `"abc" is no list`},
	{`task.running in task.stack ? switch() : continue()`, `task.stack holds names, and task.running is a duration`},
	{`task.stack in task.stack ? switch() : continue()`, `task.stack is a list`},
	{`task.running in 1..2 ? switch() : continue()`, `a range holds plain numbers, and task.running is a duration`},
	{`task.priority in 1..queue.length ? switch() : continue()`, `the bounds of a range are plain constants, and queue.length is a count`},
	{`any(1..3, any(1..#, true)) ? switch() : continue()`, `1:18: the bounds of a range are plain constants, and # is a count`},
	{`task.priority in 5..1 ? switch() : continue()`, `1:18: the range 5..1 is empty`},
	{`any(1..2000, # == 1) ? switch() : continue()`, `1:5: the range 1..2000 has more than 1024 elements`},
	{`any(-9223372036854775807..9223372036854775807, # == 1) ? switch() : continue()`, `has more than 1024 elements`},
	{`any(task.name, # == "x") ? switch() : continue()`, `1:5: task.name is no list; write task.stack`},
	{`any([1, 2], # == 1) ? switch() : continue()`, `1:5: [1, 2] is no list`},
	{`any(task.stack, # == 1) ? switch() : continue()`, `# is a name and 1 is a plain number`},
	{`any(task.stack, #) ? switch() : continue()`, `1:17: the predicate of any must be a bool, and # is a name`},
	{`any(task.stack, .name == "x") ? switch() : continue()`, `has no fields`},
	{`any(task.stack, #index == 1) ? switch() : continue()`, `there is no #index`},
	{`count(task.stack) > 3 ? switch() : continue()`, `1:1: count needs a list and a predicate`},
	{`any(task.stack) ? switch() : continue()`, `expected at least 2 arguments`},
}

func TestParseBad(t *testing.T) {
	for _, c := range badPolicies {
		_, err := Parse(c.text, testEnv)
		if err == nil {
			t.Errorf("%s: no error, want %q", c.text, c.want)
			continue
		}
		checkError(t, err)
		got := strings.TrimPrefix(err.Error(), "policy.expr:")
		matches := strings.Contains(got, c.want)
		if c.want[0] >= '1' && c.want[0] <= '9' && c.want[1] == ':' {
			matches = strings.HasPrefix(got, c.want)
		}
		if !matches {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

type hostile struct{ name, text, want string }

// hostileTexts are what nobody writes by accident.
func hostileTexts() []hostile {
	wrap := func(n int, before, inner, after string) string {
		return strings.Repeat(before, n) + inner + strings.Repeat(after, n)
	}
	const deep = "nested more than 100 deep"
	return []hostile{
		{"empty", "", "the policy is empty"},
		{"blank", " \n\t ", "the policy is empty"},
		{"comment", "// continue()", "the policy is empty"},
		{"nul", "contin\x00ue()", "1:7: the policy holds the control character U+0000"},
		{"escape", "\x1b[2J", "control character U+001B"},
		{"utf-8", "task.name == \"\xff\"", "1:15: the policy is not valid UTF-8"},
		{"megabyte", strings.Repeat("x", 1<<20), "the policy has 1048576 bytes, and 65536 are allowed"},
		{"long word", strings.Repeat("x", 60000), "there is no xxx"},
		{"long string", `throw("` + strings.Repeat("x", 60000) + `")`, "the string has 60000 bytes"},
		{"tokens", strings.Repeat("1+", 20000) + "1", "more than 4096 words"},
		{"long sum", strings.Repeat("1+", 2000) + "1 > 1 ? switch() : continue()", ""},
		{"long or", strings.Repeat("task.cancelled or ", 1000) + "true ? switch() : continue()", ""},
		{"long list", `task.name in ["a"` + strings.Repeat(`,"a"`, 2000) + `] ? switch() : continue()`, ""},
		{"parentheses", wrap(1500, "(", "1", ")"), deep},
		{"depth 10000", wrap(10000, "(", "1", ")"), "more than 4096 words"},
		{"parentheses open", strings.Repeat("(", 1500), "is never closed"},
		{"closing", strings.Repeat(")", 1500), "was never opened"},
		{"not", strings.Repeat("not ", 4000) + "true ? switch() : continue()", deep},
		{"bang", strings.Repeat("!", 4000) + "true ? switch() : continue()", deep},
		{"minus", strings.Repeat("-", 4000) + "1 > 1 ? switch() : continue()", deep},
		{"times not", "true" + strings.Repeat(" * not true", 1000) + " ? switch() : continue()", deep},
		{"ternary", strings.Repeat("task.cancelled ? switch() : ", 500) + "continue()", deep},
		{"ternary inside", wrap(500, "task.cancelled ? ", "switch()", " : continue()"), deep},
		{"else if", strings.Repeat("if task.cancelled { switch() } else ", 300) + "{ continue() }", deep},
		{"let", strings.Repeat("let x = 1;", 500) + "continue()", deep},
		{"let inside", strings.Repeat("let x = ", 500) + "1; continue()", deep},
		{"lists", wrap(2000, "[", "1", "]"), deep},
		{"maps", wrap(1000, "{a:", "1", "}"), deep},
		{"calls", wrap(1000, "min(", "1", ")"), deep},
		{"index", wrap(1000, "a[", "1", "]"), deep},
		{"power", strings.Repeat("2 ** ", 2000) + "2", "there is no operator **"},
		{"members", "task" + strings.Repeat(".a", 2000) + " ? switch() : continue()", "there is no state stub task.a"},
		{"chained", wrap(60, "1 < (", "task.priority", " < 3 ? 1 : 2) < 9 ") + "? switch() : continue()", "the policy has more than 8192 operations"},
		{"effects", strings.Repeat("cancel();", 1300) + "continue()", "more than 4096 words"},
		{"nested quantifiers", wrap(50, "any(1..1000, ", "# == 1", ")") + "? switch() : continue()", ""},
	}
}

func TestParseHostile(t *testing.T) {
	for _, c := range hostileTexts() {
		begin := time.Now()
		p, err := Parse(c.text, testEnv)
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("%s took %v", c.name, took)
		}
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want == "":
			checkProgram(t, p)
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: error %.300v\nwant one with %q", c.name, err, c.want)
		default:
			checkError(t, err)
		}
	}
}

func TestParseOnEvents(t *testing.T) {
	for _, c := range []struct {
		on   stubs.Event
		text string
		want string
	}{
		{stubs.Enqueue, `arriving.name == "a" and arriving.kind == "safe" and arriving.labels.x == "" ? switch() : continue()`, ""},
		{stubs.Enqueue | stubs.Start, `arriving.name == "a" ? switch() : continue()`, "arriving.name is not known on start; it is set on enqueue only"},
		{stubs.Custom, `event.name == "a" and event.value > 1 ? switch() : continue()`, ""},
		{stubs.Custom | stubs.Exit, `event.value > 1 ? cancel() : continue()`, "event.value is not known on exit"},
		{stubs.Exit, `task.running > duration("1s") ? set("overloaded", true) : continue()`, ""},
		{stubs.Exit, `task.cancelled ? throw("x") : continue()`, "1:18: throw() has no task to act on: the policy is evaluated on exit"},
		{stubs.Exit | stubs.Start, `switch()`, "switch() has no task to act on"},
		{stubs.Enqueue, `rank(arriving.deadline)`, ""},
		{stubs.Enqueue, `arriving.kind == "safe" ? (rank(-1); switch()) : rank(bytes("1MiB"))`, ""},
		{stubs.Enqueue, `arriving.priority < 0 ? background() : continue()`, ""},
		{stubs.Enqueue, `background(1)`, "1:1: background"},
		{stubs.Exit, `background()`, "background() has no task to act on: the policy is evaluated on exit"},
		{stubs.Tick, `task.background and queue.length > 0 ? switch() : continue()`, ""},
		{stubs.Tick, `rank(1)`, "1:1: rank() is about the task that arrives, and the policy is evaluated on tick; evaluate the policy on enqueue alone"},
		{stubs.Enqueue | stubs.Start, `rank(1)`, "and the policy is evaluated on enqueue+start"},
		{stubs.Enqueue, `rank(0.5 * loop.utilization)`, "1:6: a rank is an int, a duration or a size in bytes, and 0.5 * loop.utilization is a ratio; write int(0.5 * loop.utilization)"},
		{stubs.Enqueue, `rank(arriving.name)`, "and arriving.name is a name"},
		{stubs.Enqueue, `rank(task.stack)`, "and task.stack is a list of names"},
		{stubs.Enqueue, `rank()`, "1:1: rank"},
		{stubs.Enqueue, `rank(1, 2)`, "1:1: rank"},
		{stubs.Enqueue, `rank(1) > 2 ? switch() : continue()`, "rank() is an effect and no value"},
		{stubs.Enqueue, `interval(duration("1ms"))`, "interval() changes the interval of a time policy, and this one is evaluated on enqueue"},
	} {
		env := testEnv
		env.On = c.on
		_, err := Parse(c.text, env)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("on %v %s: error %v, want %q", c.on, c.text, err, c.want)
		}
	}
}

func TestParseWithoutStates(t *testing.T) {
	for _, text := range []string{`state.x ? switch() : continue()`, `set("x", 1)`, `call("F")`, `state`} {
		if _, err := Parse(text, Env{}); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

func TestSnapshotLayout(t *testing.T) {
	p, err := Parse(`"a" in task.stack and task.running > duration("1s") and task.labels.a == task.labels["b"]
		and any(task.stack, # == "b") and task.running < state.budget and task.labels["a"] != "" ? switch() : continue()`, testEnv)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range p.Reads {
		got = append(got, fmt.Sprintf("%d %q %v %d+%d", r.Stub, r.Key, r.Type, r.Offset, r.Words))
	}
	want := []string{
		fmt.Sprintf(`%d "" list of names 0+17`, stubs.TaskStack),
		fmt.Sprintf(`%d "" duration 17+1`, stubs.TaskRunning),
		fmt.Sprintf(`%d "a" name 18+1`, stubs.TaskLabels),
		fmt.Sprintf(`%d "b" name 19+1`, stubs.TaskLabels),
		fmt.Sprintf(`%d "budget" duration 20+1`, stubs.State),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || p.Words != 21 {
		t.Errorf("%d words\n%s\nwant\n%s", p.Words, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestEffectsKeepTheirOrder(t *testing.T) {
	p, err := Parse(`set("count", 1); call("Alarm"); task.cancelled ? (set("count", 2); throw("a")) : (cancel(); throw("b"))`, testEnv)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Sites {
		got = append(got, s.Effect.String()+s.Name)
	}
	if want := "setcount callAlarm setcount cancel"; strings.Join(got, " ") != want {
		t.Errorf("sites %v, want %s", got, want)
	}
	if strings.Join(p.Reasons, " ") != "a b" {
		t.Errorf("reasons %v", p.Reasons)
	}
}

func TestErrorStory(t *testing.T) {
	_, err := Parse("let limit = 5;\n\ttask.running > limit\n? switch() : continue()", testEnv)
	const want = `policy.expr:2:2: task.running is a duration and limit is a plain number
  2 |  task.running > limit
    |  ^^^^^^^^^^^^^^^^^^^^
  hint: write duration("5ms")`
	if got := fmt.Sprintf("%+v", err); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := fmt.Sprintf("%v|%s", err, err); got != err.Error()+"|"+err.Error() {
		t.Errorf("got %s", got)
	}
}

func TestErrorf(t *testing.T) {
	p, err := Parse(`task.cancelled ? switch() : continue()`, testEnv)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Errorf(p.Root.B, "a hint", "bad %d", 3); got.Error() != "policy.expr:1:18: bad 3; a hint" || got.End-got.Pos != len("switch()") {
		t.Errorf("%v %+v", got, got)
	}
	if got := p.Errorf(nil, "", "bad"); got.Error() != "policy.expr:1:1: bad" {
		t.Errorf("%v", got)
	}
}

func TestErrorsNameWhatIsNotRegistered(t *testing.T) {
	for text, want := range map[string][2]string{
		`state.overlodaed ? switch() : continue()`: {"overlodaed", ""},
		`set("overlodaed", true)`:                  {"overlodaed", ""},
		`call("Alram")`:                            {"", "Alram"},
		`len("x") > 1 ? switch() : continue()`:     {"", ""},
	} {
		_, err := Parse(text, testEnv)
		var e *Error
		if !errors.As(err, &e) || [2]string{e.NoState, e.NoFunc} != want {
			t.Errorf("%s: %+v; want the names %q", text, err, want)
		}
	}
}
