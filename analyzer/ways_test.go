package analyzer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/stubs"
)

// text writes ways for comparison, in their order: clocks with their bounds, fixed values by name,
// "any time" for a way without.
func text(ways []Way) string {
	var all []string
	for _, w := range ways {
		var parts []string
		for _, c := range w.Clocks {
			sign := ">="
			if c.Falls() {
				sign = "<="
			}
			parts = append(parts, fmt.Sprint(path(c.Read), sign, time.Duration(c.Bound)))
		}
		for _, f := range w.Fixed {
			ids, ok := f.Names()
			switch {
			case f.Read.Type == stubs.Bool:
				parts = append(parts, fmt.Sprintf("%s %v", path(f.Read), f.values.truth.yes))
			case f.Read.Type != stubs.Name:
				parts = append(parts, fmt.Sprintf("%s %d..%d", path(f.Read), f.values.ints.lo, f.values.ints.hi))
			case ok:
				parts = append(parts, fmt.Sprintf("%s %v", path(f.Read), textsOf(ids)))
			default:
				parts = append(parts, fmt.Sprintf("%s not %v", path(f.Read), textsOf(ids)))
			}
		}
		if parts == nil {
			parts = []string{"any time"}
		}
		all = append(all, strings.Join(parts, " and "))
	}
	return strings.Join(all, "; ")
}

// textsOf returns the names that stand for the numbers, of those that the tests use, sorted.
func textsOf(ids []stubs.NameID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
		for _, s := range []string{"a", "b", "r", "free", "report"} {
			if stubs.Intern(s) == id {
				texts[i] = s
			}
		}
	}
	slices.Sort(texts)
	return texts
}

func path(r ir.Read) string {
	if r.Pattern != "" {
		pattern := "~" + r.Pattern
		r.Pattern = ""
		return path(r) + pattern
	}
	if r.Key != "" {
		return stubs.Catalogue[r.Stub].Path + "." + r.Key
	}
	return stubs.Catalogue[r.Stub].Path
}

func waysOf(t *testing.T, text string) []Way {
	t.Helper()
	p, err := lang.Parse(text, lang.Env{On: stubs.Tick, States: map[string]stubs.Type{"i": stubs.Int, "b": stubs.Bool, "d": stubs.Duration}})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	v, err := Verify(p, Limits{})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return v.Ways()
}

// What time and what is fixed of a task keep a policy from.
func TestWays(t *testing.T) {
	for policy, want := range map[string]string{
		`task.running > duration("500ms") ? throw("x") : continue()`:                                                            "task.running>=500.000001ms",
		`task.running >= duration("500ms") and queue.length > 3 ? throw("x") : continue()`:                                      "task.running>=500ms",
		`not (task.running < duration("1s")) ? throw("x") : continue()`:                                                         "task.running>=1s",
		`task.running < duration("1s") ? continue() : throw("x")`:                                                               "task.running>=1s",
		`duration("1s") < task.elapsed - task.blocked ? throw("x") : continue()`:                                                "task.elapsed>=1.000000001s",
		`task.deadline < duration("0s") ? throw("x") : continue()`:                                                              "task.deadline<=-1ns",
		`queue.wait(0.99) > duration("1s") ? throw("x") : continue()`:                                                           "any time",
		`class.busy > 3 and task.running > duration("1s") ? throw("x") : continue()`:                                            "task.running>=1.000000001s",
		`task.deadline < duration("5ms") and task.running > duration("1s") ? throw("x") : continue()`:                           "task.deadline<=4.999999ms and task.running>=1.000000001s",
		`task.name == "a" and task.running > duration("1s") ? throw("x") : continue()`:                                          "task.running>=1.000000001s and task.name [a]",
		`task.name != "a" and task.running > duration("1s") ? throw("x") : continue()`:                                          "task.running>=1.000000001s and task.name not [a]",
		`task.name in pattern("a*") and task.running > duration("1s") ? throw("x") : continue()`:                                "task.running>=1.000000001s and task.name~a* true",
		`task.running > duration("1s") and task.labels.t not in pattern("a*") ? throw("x") : continue()`:                        "task.running>=1.000000001s and task.labels.t~a* false",
		`task.sections[pattern("r*")] > duration("1s") ? throw("x") : continue()`:                                               "task.sections~r*>=1.000000001s",
		`task.name in ["a", "b"] ? throw("x") : continue()`:                                                                     "task.name [a]; task.name [b]",
		`task.priority < 0 and task.elapsed >= duration("1s") ? throw("x") : continue()`:                                        "task.elapsed>=1s and task.priority -2147483648..-1",
		`task.labels["t"] == "free" and task.slice >= duration("1ms") ? switch() : continue()`:                                  "task.slice>=1ms and task.labels.t [free]",
		`task.sections["r"] > duration("1s") or (task.name == "r" and task.running > duration("1s")) ? throw("x") : continue()`: "task.sections.r>=1.000000001s; task.running>=1.000000001s and task.name [r]",
		// Cases that are each on their own, and one that covers another.
		`task.running > duration("1s") or task.running > duration("2s") and task.name == "a" ? throw("x") : continue()`:                         "task.running>=1.000000001s",
		`(task.name == "a" or task.name == "b") and (task.running > duration("1s") or task.blocked > duration("1s")) ? throw("x") : continue()`: "task.running>=1.000000001s and task.name [a]; task.blocked>=1.000000001s and task.name [a]; task.running>=1.000000001s and task.name [b]; task.blocked>=1.000000001s and task.name [b]",
		`let old = task.elapsed > duration("1s") or task.waited > duration("1s"); old and task.name == "a" ? throw("x") : continue()`:           "task.elapsed>=1.000000001s and task.name [a]; task.waited>=1.000000001s and task.name [a]",
		`(task.name == "a" ? task.running > duration("1s") : task.running > duration("2s")) ? throw("x") : continue()`:                          "task.running>=1.000000001s and task.name [a]; task.running>=2.000000001s and task.name not [a]",
		`if task.name == "a" { continue() } else if task.running > duration("1s") { throw("x") } else { continue() }`:                           "task.running>=1.000000001s and task.name not [a]",
		// Effects count, wherever they stand.
		`task.running > duration("1s") ? (set("i", 1); continue()) : continue()`: "task.running>=1.000000001s",
		`set("i", 1); task.running > duration("1s") ? throw("x") : continue()`:   "any time",
		`queue.oldest > duration("2s") ? set("b", true) : set("b", false)`:       "any time",
		// Found by a search.
		`task.running * 2 > duration("1s") ? throw("x") : continue()`:                        "task.running>=500.000001ms",
		`task.running / duration("1ms") > 500.0 ? throw("x") : continue()`:                   "task.running>=500.000001ms",
		`min(task.running, task.elapsed) > duration("1s") ? throw("x") : continue()`:         "task.running>=1.000000001s and task.elapsed>=1.000000001s",
		`max(task.running, task.elapsed) > duration("1s") ? throw("x") : continue()`:         "any time",
		`runtime.uptime * 3 > duration("9s") and task.name == "a" ? throw("x") : continue()`: "runtime.uptime>=3.000000001s and task.name [a]",
		// What has any value at any time.
		`task.running > state.d ? throw("x") : continue()`:                            "any time",
		`task.cancelled ? throw("x") : continue()`:                                    "any time",
		`task.running < duration("1s") ? throw("x") : continue()`:                     "any time",
		`queue.length > 3 or task.running > duration("1s") ? throw("x") : continue()`: "any time",
		`interval(task.running + duration("1s"))`:                                     "any time",
	} {
		if got := text(waysOf(t, policy)); got != want {
			t.Errorf("%s\nways: %s\nwant: %s", policy, got, want)
		}
	}
	if got := text(Verified{}.Ways()); got != "any time" {
		t.Errorf("what was not verified: %s", got)
	}
}

// Programs that double what there is to follow end soon, with ways that are true.
func TestWaysOfLongPrograms(t *testing.T) {
	var locals strings.Builder
	locals.WriteString(`let l0 = task.running > duration("1s") or task.blocked > duration("1s"); `)
	for i := range 60 {
		fmt.Fprintf(&locals, "let l%d = l%d and l%d; ", i+1, i, i)
	}
	cases := []string{}
	for i := range 100 {
		cases = append(cases, fmt.Sprintf(`(task.name == "n%d" and task.running > duration("%dms") or task.labels["l%d"] == "x")`, i, i+1, i))
	}
	begin := time.Now()
	for name, text := range map[string]string{
		"locals": locals.String() + `l60 ? throw("x") : continue()`,
		"cases":  strings.Join(cases, " or ") + ` ? throw("x") : continue()`,
		"pairs":  strings.Join(cases[:40], " and ") + ` ? throw("x") : continue()`,
	} {
		p, err := lang.Parse(text, lang.Env{On: stubs.Tick})
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(p, Limits{Cost: math.MaxInt})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(v.Ways()); n == 0 || n > maxWays {
			t.Errorf("%s: %d ways", name, n)
		}
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// wait returns how long a way stays shut at least, in ns, for what a snapshot holds; 0 or less: it
// may be open now. ok is false when it is shut by what is fixed.
func (w Way) wait(s []uint64) (least int64, ok bool) {
	least = math.MinInt64
	for _, f := range w.Fixed {
		if !f.Allows(s[f.Read.Offset]) {
			return 0, false
		}
	}
	for _, c := range w.Clocks {
		d := c.Bound - int64(s[c.Read.Offset])
		if c.Falls() {
			d = -d
		}
		least = max(least, d)
	}
	return least, true
}

// timeline changes a snapshot as time passes: clocks rise by no more than d, or leap down; the
// deadline falls by no more, or leaps up; what is fixed stays; all else takes any value.
func (r *random) timeline(s []uint64, d int64) {
	fresh := r.snapshot()
	for _, read := range r.prog.Reads {
		word := &s[read.Offset]
		switch {
		case rises(read.Stub):
			if *word += uint64(r.below(int(d) + 1)); r.below(8) == 0 {
				*word = min(*word, uint64(r.below(3)))
			}
		case read.Stub == stubs.TaskDeadline:
			if *word -= uint64(r.below(int(d) + 1)); r.below(8) == 0 {
				*word = uint64(max(int64(*word), int64(r.below(9))))
			}
		case fixed(read.Stub):
		default:
			copy(s[read.Offset:read.Offset+read.Words], fresh[read.Offset:])
		}
	}
}

// checkWays lets a random program live along random timelines, and fails when it does something
// before its ways say that it may. It reports whether time or what is fixed kept the program from
// something.
func checkWays(t *testing.T, data []byte, rng *rand.Rand) (told bool) {
	r := &random{data: data}
	p := randomProgram(r)
	v, err := Verify(p, Limits{Cost: math.MaxInt})
	if err != nil {
		return false
	}
	ways := v.Ways()
	if slices.ContainsFunc(ways, func(w Way) bool { return len(w.Clocks)+len(w.Fixed) == 0 }) {
		return false
	}
	for range 4 {
		r.data = make([]byte, 4000)
		for i := range r.data {
			r.data[i] = byte(rng.Uint32())
		}
		s := r.snapshot()
		for _, read := range p.Reads { // near the constants of the program
			if rises(read.Stub) || read.Stub == stubs.TaskDeadline {
				s[read.Offset] = uint64(r.below(4))
			}
		}
		now, notBefore := int64(0), int64(math.MinInt64)
		for range 30 {
			least := int64(math.MaxInt64)
			for _, w := range ways {
				if d, ok := w.wait(s); ok {
					least = min(least, d)
				}
			}
			if least == math.MaxInt64 || least > 0 {
				notBefore = max(notBefore, now+min(least, math.MaxInt64/2))
			}
			out, _, err := ir.Interpret(p, s)
			if err == nil && (out.Decision != stubs.Continue || out.Fired != 0) && now < notBefore {
				t.Fatalf("at %d it does %v, effects %b; not before %d\nways %s\nsnapshot %d\n%s", now, out.Decision, out.Fired, notBefore, text(ways), s, show(p.Root))
			}
			d := int64(r.below(3))
			now += d
			r.timeline(s, d)
		}
	}
	return true
}

func TestWaysSound(t *testing.T) {
	programs, told := longtest.Count(3000, 200), 0
	rng := rand.New(rand.NewPCG(7, 8))
	for range programs {
		data := make([]byte, 300)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		if checkWays(t, data, rng) {
			told++
		}
	}
	t.Logf("of %d programs something was told", told)
	if told < programs/40 {
		t.Errorf("of %d programs something was told; the test sees too few", told)
	}
}

func FuzzWays(f *testing.F) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 20 {
		data := make([]byte, 300)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		f.Add(data, uint64(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) { checkWays(t, data, rand.New(rand.NewPCG(seed, 1))) })
}
