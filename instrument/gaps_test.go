package instrument

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// gapsIn returns the gaps of a text, each as "function: kind length: why", except gaps of kind
// code.
func gapsIn(t *testing.T, src string, o Options) (lines []string, code map[string]int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := Gaps(Package{Path: "p", Files: []string{file}, Exports: exported(t)}, o)
	if err != nil {
		t.Fatal(err)
	}
	code = map[string]int{}
	for _, f := range all {
		for _, g := range f.Gaps {
			length := "unbounded"
			if g.Length != Unbounded {
				length = "bounded"
			}
			if g.Kind == GapCode {
				code[f.Func] = int(g.Length)
				continue
			}
			if g.Pos.Filename != file || g.Pos.Line != 1 {
				t.Errorf("%s: the gap %q is at %v", f.Func, g.Why, g.Pos)
			}
			lines = append(lines, fmt.Sprintf("%s: %s %s: %s", f.Func, g.Kind, length, g.Why))
		}
	}
	return lines, code
}

// closer declares resources, a function that polls, and functions that do not.
const closer = `type t int; func (t) Close() {}; func (t) Name() string { return "" }; func (t) ok() bool { return true }; ` +
	`func b() { f() }; func c() (t, error) { return 0, nil }; func d() t { return 0 }`

// user is a function that takes a resource over.
const user = `type s struct{}; func (*s) Close() {}; func e() *s { return nil }; func use(x *s) { defer x.Close(); f() }; `

func TestGaps(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"polls at each iteration", `func a(n int) { for n > 0 { n /= 2 } }`, nil},
		{"too short to poll", `func a(x [8]int) (s int) { for _, v := range x { s += v }; return s }`,
			[]string{"a: loop bounded: 8 iterations at most, which do not poll"}},
		{"in pieces", `func a(x []int) { for i := range x { x[i]++ } }`, []string{"a: loop bounded: it polls every 1024 iterations"}},
		{"in pieces, around a loop that polls", `func a(x []int) { for i := range x { for x[i] > 0 { f() } } }`,
			[]string{"a: loop bounded: it polls every 256 iterations"}},
		{"under a lock", `func a(n int) { mu.Lock(); for n > 0 { n /= 2 }; mu.Unlock() }`,
			[]string{"a: loop unbounded: it does not poll: a lock is held", "a: wait unbounded: it may wait for the lock"}},
		{"under a lock, bounded", `func a() (s int) { mu.Lock(); for range 5000 { s++ }; mu.Unlock(); return s }`,
			[]string{"a: wait unbounded: it may wait for the lock", "a: loop bounded: it does not poll: a lock is held"}},
		{"called under a lock", `func a() { mu.Lock(); defer mu.Unlock(); b(8) }; func b(n int) { for n > 0 { n /= 2 } }`,
			[]string{"a: lock unbounded: calls b while a lock is held, which a deferred call releases: it may be thrown into, late", "a: wait unbounded: it may wait for the lock"}},
		{"loops under a lock", `func a(n int) { mu.Lock(); defer mu.Unlock(); for n > 0 { n /= 2 } }`,
			[]string{"a: lock unbounded: it polls while a lock is held, which a deferred call releases: it may be thrown into, late", "a: wait unbounded: it may wait for the lock"}},
		{"swift under a lock", `func a(n int) int { mu.Lock(); defer mu.Unlock(); return b(n) }; func b(n int) int { return n + 1 }`,
			[]string{"a: wait unbounded: it may wait for the lock"}},
		{"returns with a lock held", `type T struct{ mu sync.Mutex }; func (t *T) Begin() { t.mu.Lock() }; func (t *T) begin() { t.mu.Lock() }; func (t *T) End() { t.mu.Unlock() }`,
			[]string{"(*T).Begin: held unbounded: returns with t.mu held, which callers in other packages do not show",
				"(*T).Begin: wait unbounded: it may wait for the lock", "(*T).begin: wait unbounded: it may wait for the lock"}},
		{"goto under a lock", `func a() { mu.Lock(); L: goto L }`,
			[]string{"a: loop unbounded: it does not poll: a lock is held", "a: wait unbounded: it may wait for the lock"}},
		{"init", `func init() { for { f() } }`, []string{"init: loop unbounded: it does not poll: the package is being initialised", "init: recursion unbounded: it does not poll: the package is being initialised"}},
		{"deferred", `func a(n int) { defer func() { for n > 0 { n /= 2 } }() }`,
			[]string{"a.func1: loop unbounded: it does not poll: it is deferred, and may run while a throw unwinds"}},
		{"recursion", `func init() { var g func(); g = func() { f() }; g() }`, []string{"init: recursion unbounded: it does not poll: the package is being initialised"}},
		{"not instrumented", `func a() { os.ReadFile("x") }`, []string{"a: call unbounded: calls os.ReadFile, not instrumented"}},
		{"instrumented", `func a() { errors.New("x") }`, nil},
		{"method of another package", `func a(w *sync.WaitGroup) { w.Wait() }`, []string{"a: call unbounded: calls (*sync.WaitGroup).Wait, not instrumented"}},
		{"takes what calls back", `func a(x []int) { sort.Slice(x, func(i, j int) bool { return i < j }) }`,
			[]string{"a: call unbounded: calls sort.Slice, not instrumented"}},
		{"swift", `func a(x float64) float64 { return math.Sqrt(x) }`, nil},
		{"assembly", `func a() { b() }; func b()`, []string{"a: call unbounded: calls b, which has no Go text"}},
		{"interface and function value", `func a(i interface{ M() }) { i.M(); f() }`, nil},
		{"callers do not repeat it", `func a() { b() }; func b() { os.ReadFile("x") }`, []string{"b: call unbounded: calls os.ReadFile, not instrumented"}},
		{"data", `func a(x, y []byte, s string) []byte { copy(x, y); s += "x"; return append(x, s...) }`,
			[]string{"a: data unbounded: copy is as long as its data", "a: data unbounded: append is as long as its data"}},
		{"concatenation", `func a(s string) string { return s + "x" + s }`,
			[]string{"a: data unbounded: it is as long as the strings that it joins", "a: data unbounded: it is as long as the strings that it joins"}},
		{"constants", `const c = "a" + "b"; func a() (string, []byte) { return c + "x", nil }`, nil},
		{"conversions", `type S string; func a(x []byte, r rune, s S) (string, []rune, S, string) { return string(x), []rune(s), S(s), string(r) }`,
			[]string{"a: data unbounded: the conversion is as long as the string", "a: data unbounded: the conversion is as long as the string"}},
		{"waits", `func a(x chan int) { x <- 1; <-x; for range x { f() } }`,
			[]string{"a: wait unbounded: it may wait to send", "a: wait unbounded: it may wait to receive", "a: wait unbounded: it may wait to receive"}},
		{"selects", `func a(x chan int) { select { case <-x: case x <- 1: }; select { case <-x: default: } }`, []string{"a: wait unbounded: it may wait for its cases"}},
		{"longest first", `func a(x []int) { x = append(x, 1); for i := range x { x[i]++ }; os.ReadFile("x") }`,
			[]string{"a: call unbounded: calls os.ReadFile, not instrumented", "a: data unbounded: append is as long as its data", "a: loop bounded: it polls every 1024 iterations"}},
		{"released by no deferred call", `func a() error { f, err := c(); if err != nil { return err }; b(); g := d(); if !g.ok() { b(); f.Close() }; g.Close(); return nil }; ` + closer,
			[]string{"a: lost unbounded: line 1 releases f, but no deferred call does: a throw before it loses f",
				"a: lost unbounded: line 1 releases g, but no deferred call does: a throw before it loses g"}},
		{"released by a function", `func a() { f, _ := c(); b(); remove(f.Name()) }; func remove(string) {}; ` + closer, nil},
		{"released by a deferred call", `func a() { g := d(); defer g.Close(); b() }; ` + closer, nil},
		{"released at once", `func a() { g := d(); g.ok(); g.Close(); b() }; ` + closer, nil},
		{"passed on", `func a() { g := e(); b(); use(g) }; ` + user + closer,
			[]string{"a: lost unbounded: line 1 passes g on, and no deferred call releases it: a throw before it loses g"}},
		{"passed on at once", `func a() { g := e(); use(g) }; ` + user + closer, nil},
		{"nothing", ``, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := `package p; import ("os"; "sync"; "math"; "errors"; "sort"); var mu sync.Mutex; var f func(); var _ = os.Args; var _ = math.Pi; var _ = errors.ErrUnsupported; var _ = sort.Ints; ` + c.src
			got, _ := gapsIn(t, src, Options{Instrumented: func(pkg string) bool { return pkg == "errors" }})
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestLongestPath checks the longest path between two polls, or between a poll and an end.
func TestLongestPath(t *testing.T) {
	work := func(n int) string { return strings.Repeat("x++; ", n) }
	for _, c := range []struct {
		name, src, like string // as long as the function b of the other text, within a tenth and some
	}{
		{"one after the other", `func a(x int) { ` + work(90) + work(90) + `}`, work(180)},
		{"either", `func a(x int) { if x > 0 { ` + work(90) + `} else { ` + work(50) + `} }`, work(90)},
		{"one and out", `func a(x int) { if x > 0 { ` + work(90) + `return }; ` + work(100) + `}`, work(100)},
		{"cases", `func a(x int) { switch { case x > 0: ` + work(70) + `case x < 9: ` + work(100) + `}; ` + work(50) + `}`, work(150)},
		{"fallthrough", `func a(x int) { switch { case x > 0: ` + work(70) + `fallthrough; case x < 9: ` + work(100) + `} }`, work(170)},
		{"before the poll", `func a(x int) { ` + work(100) + `for x > 0 { x /= 2 }; ` + work(30) + `}`, work(130)}, // no iteration, no poll
		{"behind the poll", `func a(x int) { ` + work(30) + `for x > 0 { x /= 2; ` + work(100) + ` } }`, work(100)},
		{"around the loop", `func a(x int) { for x > 0 { ` + work(200) + `if x > 5 { break } }; ` + work(100) + `}`, work(300)},
		{"function poll", `func a(x int) { ` + work(90) + `f(); ` + work(70) + `}`, work(90)},
		{"pieces", `func a(x []int) (s int) { for i := range x { s += x[i] }; return s }`, "for range 1024 { x += 1; x++ }"},
		{"pieces with rare calls", `func a(x []int, y int) { for i := range x { if x[i] > 0 { x[i]++; f(); f() } else { y += x[i] } } }`, "for range 256 { x += 9; x++; x++; x++; x++; x++; x++; x++; x++ }"},
		{"called", `func a(x int) { b(x); b(x) }; func b(x int) { ` + work(90) + `}`, work(180)},
		{"comes back to itself", `func a(x int) { ` + work(90) + `; if x > 0 { a(x); a(x) } }`, work(90)},
		{"deferred", `func a(x int) { defer func() { ` + work(90) + `}(); ` + work(90) + `}`, work(436)}, // and the literal
		{"started", `func a(x int) { go func() { ` + work(500) + `}(); ` + work(90) + `}`, work(190)},
		{"goto ahead", `func a(x int) { if x > 0 { ` + work(90) + `goto L }; x++; L: ` + work(90) + `}`, work(180)},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got := gapsIn(t, `package p; var f func(); `+c.src, Options{})
			_, want := gapsIn(t, `package p; func like(x int) { `+c.like+` }`, Options{})
			if g, w := got["a"], want["like"]; g < w*9/10-20 || g > w*11/10+20 {
				t.Errorf("the longest path costs %d; want about %d", g, w)
			}
		})
	}
}

// TestGapsRefuses checks that a file that a build refuses or cannot parse has no gaps, and does not
// cause a panic.
func TestGapsRefuses(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(broken, []byte("package p\nfunc {"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		p    Package
		want string
	}{
		"refused":   {Package{Path: "runtime", Std: true}, "the runtime runs where"},
		"syntax":    {Package{Path: "p", Files: []string{broken}}, "a.go:2:6"},
		"no file":   {Package{Path: "p", Files: []string{broken + "x"}}, "no such file"},
		"no folder": {Package{Path: "p", Files: []string{""}}, "no such file"},
	} {
		if _, err := Gaps(c.p, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// TestGapsOfEverything checks that each function of a package with every kind of code has its gaps,
// in order.
func TestGapsOfEverything(t *testing.T) {
	patterns := []string{"./testdata/hostile", "go/types", "encoding/json"}
	chosen := chosenAll
	if longtest.Off() {
		patterns, chosen = patterns[:1], chosenOwn // without what it imports
	}
	for _, p := range packages(list(t, patterns...), chosen) {
		all, err := Gaps(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		res, err := Rewrite(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != res.Stats.Functions {
			t.Errorf("%s: gaps of %d functions, and %d are rewritten", p.Path, len(all), res.Stats.Functions)
		}
		for _, f := range all {
			if len(f.Gaps) == 0 || !slices.IsSortedFunc(f.Gaps, CompareGaps) {
				t.Errorf("%s.%s: gaps %v", p.Path, f.Func, f.Gaps)
			}
			for _, g := range f.Gaps {
				if g.Length < 0 || !g.Pos.IsValid() || g.Why == "" {
					t.Errorf("%s.%s: gap %+v", p.Path, f.Func, g)
				}
			}
		}
	}
}
