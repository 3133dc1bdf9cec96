package instrument

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The texts of a poll, in a function that may be inlined and in another.
const (
	poll       = "cocoon_poll(cocoon_answer);"
	directPoll = "if cocoon_raised() { cocoon_answerNow() };"
)

// rewriteText rewrites a file without imports, and shows polls as POLL.
func rewriteText(t *testing.T, src string, o Options) (text string, s Stats) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	res, err := Rewrite(Package{Path: "p", Files: []string{path}}, o)
	if err != nil {
		t.Fatal(err)
	}
	text = src
	if new, ok := res.Files[path]; ok {
		text = string(new)
	}
	return strings.NewReplacer(poll, "POLL", directPoll, "POLL").Replace(text), res.Stats
}

// TestDirectPolls checks that a poll is a direct call where the function is not inlined anyway.
func TestDirectPolls(t *testing.T) {
	const src = `package p
var next, f func()
type node struct{ next *node; n [9]int }
func find(a *node) *node { for a != nil { a = a.next }; return a }
func calls() { f(); f() }
func walk(a *node) { if a != nil { walk(a.next) } }
func literal() func(*node) { return func(a *node) { for a != nil { f(); f(); a = a.next } } }
`
	path := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	res, err := Rewrite(Package{Path: "p", Files: []string{path}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	direct := map[string]bool{"calls": true, "walk": true}
	for _, line := range strings.Split(string(res.Files[path]), "\n") {
		_, after, ok := strings.Cut(line, "func ")
		name, _, _ := strings.Cut(after, "(")
		if !ok || strings.HasPrefix(line, "var") {
			continue
		}
		if got := strings.Contains(line, directPoll); got != direct[name] || got == strings.Contains(line, poll) {
			t.Errorf("a direct call: %v in %s", got, line)
		}
	}
}

func TestWhereItPolls(t *testing.T) {
	const declarations = `
var f func(); func swift(n int) int { return n + 1 }; type T struct{ n int }; type I interface{ M() }; type L struct{}
func (L) Lock() {}; func (L) Unlock() {}; func (L) RLock() {}; func (L) RUnlock() {}; func (L) TryLock() bool { return true }; var mu, other L; type G struct{}
func (G) Add(int) {}; func (G) Wait() {}; var wg, group G
`
	for _, c := range []struct{ name, src, want string }{
		{"endless", `func a() { for { f() } }`, `func a() { for {POLL f() } }`},
		{"while", `func a(n int) { for n > 0 { n /= 2 } }`, `func a(n int) { for n > 0 {POLL n /= 2 } }`},
		{"no body", `func a(n int)`, `func a(n int)`},
		{"empty loop", `func a() { for {} }`, `func a() { for {POLL} }`},
		{"short", `func a(x [8]int) (s int) { for _, v := range x { s += v }; for i := 0; i < 9; i++ { s = swift(s) }; for range 5 { s++ }; return }`, ""},
		{"constant but long", `func a(s int) { for range 5000 { s /= 2 } }`,
			`func a(s int) { for cocoon_s, cocoon_i := 5000, 0; cocoon_i < cocoon_s; { POLL if cocoon_i < 0 { break }; cocoon_n := cocoon_i + 1024; if cocoon_n < cocoon_i || cocoon_n > cocoon_s { cocoon_n = cocoon_s }; for ; cocoon_i < cocoon_n; cocoon_i++ { s /= 2 } } }`},
		{"counted", `func a(x []int) { for i := 0; i < len(x); i++ { x[i]++ } }`,
			`func a(x []int) { for i := 0; i < len(x); { POLL if i < 0 { break }; cocoon_n := min(i + 1024, len(x)); for ; i < cocoon_n; i++ { x[i]++ } } }`},
		{"counted to a variable", `func a(x []int, n int) { for i := 0; i < n; i++ { x[i]++ } }`,
			`func a(x []int, n int) { for i := 0; i < n; { POLL if i < 0 { break }; cocoon_n := i + 1024; if cocoon_n < i || cocoon_n > n { cocoon_n = n }; for ; i < cocoon_n; i++ { x[i]++ } } }`},
		{"counted down to zero", `func a(x []int) { for i := len(x) - 1; i >= 0; i-- { x[i]++ } }`,
			`func a(x []int) { for i := len(x) - 1; ; { cocoon_first := i; for i >= 0 { POLL if i > cocoon_first { break }; cocoon_n := max(i - 1023, 0); for ; i >= cocoon_n; i-- { x[i]++ } }; break } }`},
		{"counter named max", `func a(x []int) { for max := len(x) - 1; max >= 0; max-- { x[max]++ } }`,
			`func a(x []int) { for max := len(x) - 1; ; { cocoon_first := max; for max >= 0 { POLL if max > cocoon_first { break }; cocoon_n := max - 1023; if cocoon_n < 0 { cocoon_n = 0 }; for ; max >= cocoon_n; max-- { x[max]++ } }; break } }`},
		{"limit written", `func a(n int) { for i := 0; i < n; i++ { n-- } }`,
			`func a(n int) { for i := 0; ; { cocoon_first := i; for { POLL if i < cocoon_first { break }; cocoon_m := i + 1024; for ; (i < n) && i != cocoon_m; i++ { n-- }; if i != cocoon_m { break } }; break } }`},
		{"limit whose address is known", `func a(n int, p *int) { p = &n; for i := 0; i < n; i++ { *p = 3 } }`,
			`func a(n int, p *int) { p = &n; for i := 0; ; { cocoon_first := i; for { POLL if i < cocoon_first { break }; cocoon_m := i + 1024; for ; (i < n) && i != cocoon_m; i++ { *p = 3 }; if i != cocoon_m { break } }; break } }`},
		{"limit of the package", `func a(x []int) { for i := 0; i < limit; i++ { x[i]++ } }; var limit int`,
			`func a(x []int) { for i := 0; ; { cocoon_first := i; for { POLL if i < cocoon_first { break }; cocoon_m := i + 1024; for ; (i < limit) && i != cocoon_m; i++ { x[i]++ }; if i != cocoon_m { break } }; break } }; var limit int`},
		{"limit in a literal", `func a(x []int) { n := 5; f = func() { n++ }; for i := 0; i < n; i++ { x[i]++ } }`,
			`func a(x []int) { n := 5; f = func() { n++ }; for i := 0; ; { cocoon_first := i; for { POLL if i < cocoon_first { break }; cocoon_m := i + 1024; for ; (i < n) && i != cocoon_m; i++ { x[i]++ }; if i != cocoon_m { break } }; break } }`},
		{"a rare call", `func a(x []int) { for i := range x { if x[i] > 0 { x[i]--; f(); f() } } }`,
			`func a(x []int) { for cocoon_s, i := x, 0; i < len(cocoon_s); { POLL if i < 0 { break }; cocoon_n := min(i + 256, len(cocoon_s)); for ; i < cocoon_n; i++ { if x[i] > 0 { x[i]--; POLLf(); POLLf() } } } }`},
		{"a call that leaves the loop", `func a(x []int) int { for i := range x { if x[i] > 0 { f(); f(); return i }; x[i]++ }; return 0 }`,
			`func a(x []int) int { for cocoon_s, i := x, 0; i < len(cocoon_s); { POLL if i < 0 { break }; cocoon_n := min(i + 512, len(cocoon_s)); for ; i < cocoon_n; i++ { if x[i] > 0 { f(); f(); return i }; x[i]++ } }; return 0 }`},
		{"calls before breaks", `func a(x []int) { for i := range x { if x[i] > 0 { f(); break }; switch x[i] { case 3: f(); break }; x[i]++ } }`,
			`func a(x []int) { for cocoon_s, i := x, 0; ; { POLL if i < 0 { break }; cocoon_m := i + 256; cocoon_n := cocoon_m; if cocoon_n > len(cocoon_s) { cocoon_n = len(cocoon_s) }; for ; i < cocoon_n; i++ { if x[i] > 0 { f(); break }; switch x[i] { case 3: POLLf(); break }; x[i]++ }; if i != cocoon_m { break } } }`},
		{"a call behind a continue", `func a(x []int) { for i := range x { if x[i] > 0 { continue }; f(); f() } }`,
			`func a(x []int) { for cocoon_s, i := x, 0; i < len(cocoon_s); { POLL if i < 0 { break }; cocoon_n := min(i + 256, len(cocoon_s)); for ; i < cocoon_n; i++ { if x[i] > 0 { continue }; POLLf(); POLLf() } } }`},
		{"a call on each way", `func a(x []int) { for i := range x { if x[i] > 0 { f() } else { f() } } }`,
			`func a(x []int) { for i := range x {POLL if x[i] > 0 { f() } else { f() } } }`},
		{"a call in most cases", `func a(x []int) { for i := range x { switch x[i] { case 1: f(); case 2: f() } } }`,
			`func a(x []int) { for cocoon_s, i := x, 0; i < len(cocoon_s); { POLL if i < 0 { break }; cocoon_n := min(i + 256, len(cocoon_s)); for ; i < cocoon_n; i++ { switch x[i] { case 1: POLLf(); case 2: POLLf() } } } }`},
		{"calls in all cases", `func a(x []int) { for i := range x { switch x[i] { case 1: f(); default: f() } } }`,
			`func a(x []int) { for i := range x {POLL switch x[i] { case 1: f(); default: f() } } }`},
		{"a call in a condition", `func a(x []int) { for i := range x { if x[i] > 0 { if g() { x[i]++ } else if g() { x[i]-- } } } }; var g func() bool`,
			`func a(x []int) { for cocoon_s, i := x, 0; i < len(cocoon_s); { POLL if i < 0 { break }; cocoon_n := min(i + 128, len(cocoon_s)); for ; i < cocoon_n; i++ { if x[i] > 0 { POLLif g() { x[i]++ } else if g() { x[i]-- } } } } }; var g func() bool`},
		{"a rare call under a lock", `func a(x []int) { for i := range x { if x[i] > 0 { mu.Lock(); f(); f(); mu.Unlock() } } }`,
			`func a(x []int) { for i := range x {POLL if x[i] > 0 { mu.Lock(); f(); f(); mu.Unlock() } } }`},
		{"a rare call in a small function", `func a(x []int) { for i := range x { if x[i] > 0 { f() } } }`,
			`func a(x []int) { for i := range x {POLL if x[i] > 0 { f() } } }`},
		{"a value on the line before", "func a() (n int) { for _, v := range []int{1,\n2} { n += v }; return }",
			"func a() (n int) { for _, v := range []int{1,\n2} {POLL n += v }; return }"},
		{"a call in the post statement", `func a(x []int) { for i, j := 0, 0; i < len(x); i, j = i+1, h(j) { x[i] = j } }; var h func(int) int`,
			`func a(x []int) { POLLfor i, j := 0, 0; i < len(x); i, j = i+1, h(j) {POLL x[i] = j } }; var h func(int) int`},
		{"many rare calls", `func a(x []int) { for i := range x { if x[i] > 0 { f(); f(); f(); f(); f() } } }`,
			`func a(x []int) { for i := range x {POLL if x[i] > 0 { f(); f(); f(); f(); f() } } }`},
		{"a rare loop", `func a(x []int) { for i := range x { if x[i] > 0 { for x[i] > 9 { f(); f() } } } }`,
			`func a(x []int) { for cocoon_s, i := x, 0; i < len(cocoon_s); { POLL if i < 0 { break }; cocoon_n := min(i + 128, len(cocoon_s)); for ; i < cocoon_n; i++ { if x[i] > 0 { for x[i] > 9 {POLL f(); f() } } } } }`},
		{"a rare go statement", `func a(x []int) { for i := range x { if x[i] > 0 { go f(); f(); f() } } }`,
			`func a(x []int) { for i := range x {POLL if x[i] > 0 { go f(); f(); f() } } }`},
		{"two conditions", `func a(x []int) { for i := 0; i < len(x) && x[i] > 0; i++ { x[i]++ } }`,
			`func a(x []int) { for i := 0; i < len(x) && x[i] > 0; i++ {POLL x[i]++ } }`},
		{"condition that calls", `func a(x []int) { for i := 0; i < swift(3); i++ { x[i]++ } }`,
			`func a(x []int) { for i := 0; ; { cocoon_first := i; for { POLL if i < cocoon_first { break }; cocoon_m := i + 1024; for ; i != cocoon_m && (i < swift(3)); i++ { x[i]++ }; if i != cocoon_m { break } }; break } }`},
		{"may wrap around", `func a(x []int, n int) { for i := 0; i <= n; i++ { x[i]++ } }`,
			`func a(x []int, n int) { for i := 0; ; { POLL cocoon_m := i + 1024; for ; (i <= n) && i != cocoon_m; i++ { x[i]++ }; if i != cocoon_m { break } } }`},
		{"unsigned and never below zero", `func a(x []int) { for i := uint(9); i >= 0; i-- { x[i]++ } }`,
			`func a(x []int) { for i := uint(9); ; { POLL cocoon_m := i - 1024; for ; (i >= 0) && i != cocoon_m; i-- { x[i]++ }; if i != cocoon_m { break } } }`},
		{"small type", `func a(x []int, n int8) { for i := int8(0); i < n; i++ { x[i]++ } }`,
			`func a(x []int, n int8) { for i := int8(0); ; { cocoon_first := i; for { POLL if i < cocoon_first { break }; cocoon_m := i + 32; for ; (i < n) && i != cocoon_m; i++ { x[i]++ }; if i != cocoon_m { break } }; break } }`},
		{"step of a small type", `func a(n int8) { for i := int8(0); i < n; i += 7 { n /= 2 } }`,
			`func a(n int8) { for i := int8(0); ; { POLL cocoon_m := i + 126; for ; (i < n) && i != cocoon_m; i += 7 { n /= 2 }; if i != cocoon_m { break } } }`},
		{"counted down", `func a(x []int) { for i := len(x); i > 0; i -= 2 { x[i]++ } }`,
			`func a(x []int) { for i := len(x); ; { POLL cocoon_m := i - 2048; for ; (i > 0) && i != cocoon_m; i -= 2 { x[i]++ }; if i != cocoon_m { break } } }`},
		{"counted, left by a break", `func a(x []int) { for i := 0; i < len(x); i++ { if x[i] > 0 { break }; switch x[i] { case 0: break }; x[i]++ } }`,
			`func a(x []int) { for i := 0; ; { cocoon_first := i; for { POLL if i < cocoon_first { break }; cocoon_m := i + 256; cocoon_n := cocoon_m; if cocoon_n > len(x) { cocoon_n = len(x) }; for ; i < cocoon_n; i++ { if x[i] > 0 { break }; switch x[i] { case 0: break }; x[i]++ }; if i != cocoon_m { break } }; break } }`},
		{"counted, left by a return", `func a(x []int, k int) { for i := k; i < len(x); i++ { if x[i] > 0 { return }; switch x[i] { case 0: break }; x[i]++ } }`,
			`func a(x []int, k int) { for i := k; ; { cocoon_first := i; for i < len(x) { POLL if i < cocoon_first { break }; cocoon_n := min(i + 256, len(x)); for ; i < cocoon_n; i++ { if x[i] > 0 { return }; switch x[i] { case 0: break }; x[i]++ } }; break } }`},
		{"two counters", `func a(x []int) { for i, j := 0, len(x)-1; i < j; i, j = i+1, j-1 { x[i] = x[j] } }`,
			`func a(x []int) { for i, j := 0, len(x)-1; ; { cocoon_first := i; for { POLL if i < cocoon_first { break }; cocoon_m := i + 1024; for ; (i < j) && i != cocoon_m; i, j = i+1, j-1 { x[i] = x[j] }; if i != cocoon_m { break } }; break } }`},
		{"two counters in one", `func a(x []int) { for i, j := 0, len(x)-1; i < j; i, i = i+1, i-1 { x[i] = x[j] } }`,
			`func a(x []int) { for i, j := 0, len(x)-1; i < j; i, i = i+1, i-1 {POLL x[i] = x[j] } }`},
		{"a variable of the function counts", `func a(x []int, i int) { for i < len(x) && x[i] > 0 { x[i]--; i++ } }`,
			`func a(x []int, i int) { for i < len(x) && x[i] > 0 {POLL x[i]--; i++ } }`},
		{"a variable of the function counts to a limit", `func a(x []int, i int) { for ; i < len(x); i++ { x[i]-- } }`,
			`func a(x []int, i int) { for cocoon_first := i; i < len(x); { POLL if i < cocoon_first { break }; cocoon_n := min(i + 1024, len(x)); for  ; i < cocoon_n; i++ { x[i]-- } } }`},
		{"a variable of the function counts down", `func a(x []int, i int) { for i > 0 && x[i] > 0 { i-- } }`,
			`func a(x []int, i int) { for i > 0 && x[i] > 0 {POLL i-- } }`},
		{"a variable of the function counts, and the loop is left", `func a(x []int, i int) { for i < len(x) { if x[i] == 3 { break }; i += 2 } }`,
			`func a(x []int, i int) { for { POLL cocoon_m := i + 1024; for  (i < len(x)) && i != cocoon_m { if x[i] == 3 { break }; i += 2 }; if i != cocoon_m { break } } }`},
		{"counts to a call", `func a(x []int, i int) { for i < swift(i) { x[i]--; i++ } }`,
			`func a(x []int, i int) { for cocoon_first := i; ; { POLL if i < cocoon_first { break }; cocoon_m := i + 1024; for  i != cocoon_m && (i < swift(i)) { x[i]--; i++ }; if i != cocoon_m { break } } }`},
		{"counts not always", `func a(x []int, i int) { for i < len(x) { if x[i] > 0 { continue }; i++ } }`, `func a(x []int, i int) { for i < len(x) {POLL if x[i] > 0 { continue }; i++ } }`},
		{"counts in the middle", `func a(x []int, i int) { for i < len(x) { i++; if x[i] > 0 { break } } }`, `func a(x []int, i int) { for i < len(x) {POLL i++; if x[i] > 0 { break } } }`},
		{"counts twice", `func a(x []int, i int) { for i < len(x) { if x[i] > 0 { i++ }; i++ } }`, `func a(x []int, i int) { for i < len(x) {POLL if x[i] > 0 { i++ }; i++ } }`},
		{"a literal counts too", `func a(x []int, i int) { f = func() { i++ }; for i < len(x) { x[i]--; i++ } }`,
			`func a(x []int, i int) { f = func() { i++ }; for i < len(x) {POLL x[i]--; i++ } }`},
		{"a variable of the package counts", `func a(x []int) { for n < len(x) { n++ } }; var n int`,
			`func a(x []int) { for n < len(x) {POLL n++ } }; var n int`},
		{"a variable around a literal counts", `func a(x []int, i int) { f = func() { for i < len(x) { i++ } } }`,
			`func a(x []int, i int) { f = func() { for i < len(x) {POLL i++ } } }`},
		{"a variable of the body counts", `func a(x []int) { for i := 5; len(x) > 0; { i := i; i++ } }`,
			`func a(x []int) { for i := 5; len(x) > 0; {POLL i := i; i++ } }`},
		{"a conversion that only names another type", `type text string; func a(x text, n int) { for i := 0; i < n; i++ { y = string(x) } }; var y string`,
			`type text string; func a(x text, n int) { for i := 0; i < n; { POLL if i < 0 { break }; cocoon_n := i + 1024; if cocoon_n < i || cocoon_n > n { cocoon_n = n }; for ; i < cocoon_n; i++ { y = string(x) } } }; var y string`},
		{"range", `func a(x []int) (s int) { for _, v := range x { s += v }; return s }`,
			`func a(x []int) (s int) { for cocoon_s, cocoon_i := x, 0; cocoon_i < len(cocoon_s); { POLL if cocoon_i < 0 { break }; cocoon_n := min(cocoon_i + 1024, len(cocoon_s)); for ; cocoon_i < cocoon_n; cocoon_i++ {v := cocoon_s[cocoon_i]; s += v } }; return s }`},
		{"range, value declared anew", `func a(x []int) (s int) { for _, v := range x { v := v + 1; s += v }; return s }`,
			`func a(x []int) (s int) { for cocoon_s, cocoon_i := x, 0; cocoon_i < len(cocoon_s); { POLL if cocoon_i < 0 { break }; cocoon_n := min(cocoon_i + 512, len(cocoon_s)); for ; cocoon_i < cocoon_n; cocoon_i++ {v := cocoon_s[cocoon_i];{ v := v + 1; s += v }} }; return s }`},
		{"range, with another len", `func a(x []int) (s int) { len := 2; for _, v := range x { s += v * len }; return s }`,
			`func a(x []int) (s int) { len := 2; for _, v := range x {POLL s += v * len }; return s }`},
		{"range, value named len", `func a(x []int) (s int) { for _, len := range x { s += len }; return s }`, `func a(x []int) (s int) { for _, len := range x {POLL s += len }; return s }`},
		{"counter written", `func a(n int) { for i := 0; i < n; i++ { i++ } }`, `func a(n int) { for i := 0; i < n; i++ {POLL i++ } }`},
		{"counter's address", `func a(n int) { for i := 0; i < n; i++ { p := &i; *p = 2 } }`, `func a(n int) { for i := 0; i < n; i++ {POLL p := &i; *p = 2 } }`},
		{"counter captured", `func a(n int) { for i := 0; i < n; i++ { f = func() { i++ } } }`, `func a(n int) { for i := 0; i < n; i++ {POLL f = func() { i++ } } }`},
		{"another's address", `func a(p *int) { for i, j := 0, 0; i < 1e6; i++ { p = &j } }`, `func a(p *int) { for i, j := 0, 0; i < 1e6; i++ {POLL p = &j } }`},
		{"makes slices of any length", `func a(x [][]int, n int) { for i := range x { x[i] = make([]int, n) } }`, `func a(x [][]int, n int) { for i := range x {POLL x[i] = make([]int, n) } }`},
		{"makes large slices", `func a(x [][]int) { for i := range 3 { x[i] = make([]int, 1<<20) } }`, `func a(x [][]int) { for i := range 3 {POLL x[i] = make([]int, 1<<20) } }`},
		{"makes short slices", `func a(x [][]int) { for i := range 3 { x[i] = make([]int, 5) } }`, ""},
		{"around a loop that polls", `func a(x []int) { for i := 0; i < len(x); i++ { for x[i] > 0 { f() } } }`,
			`func a(x []int) { for i := 0; i < len(x); { POLL if i < 0 { break }; cocoon_n := min(i + 256, len(x)); for ; i < cocoon_n; i++ { for x[i] > 0 {POLL f() } } } }`},
		{"around a loop that polls, with a call", `func a(x []int) { for i := 0; i < len(x); i++ { f(); for x[i] > 0 { f() } } }`,
			`func a(x []int) { for i := 0; i < len(x); i++ {POLL f(); for x[i] > 0 {POLL f() } } }`},
		{"around a loop with a call in its condition", `func a(x []int, g func() bool) { for i := 0; i < len(x); i++ { for g() { x[i]++ } } }`,
			`func a(x []int, g func() bool) { for i := 0; i < len(x); i++ {POLL for g() {POLL x[i]++ } } }`},
		{"around a loop under a lock", `func a(x []int) { for i := 0; i < len(x); i++ { mu.Lock(); for x[i] > 0 { f() }; mu.Unlock() } }`,
			`func a(x []int) { for i := 0; i < len(x); i++ {POLL mu.Lock(); for x[i] > 0 { f() }; mu.Unlock() } }`},
		{"around a loop in pieces", `func a(x []int) { for i := 0; i < len(x); i++ { for j := 0; i + j >= 0; j++ { x[i]++ } } }`,
			`func a(x []int) { for i := 0; i < len(x); i++ {POLL for j := 0; ; { POLL cocoon_m := j + 1024; for ; (i + j >= 0) && j != cocoon_m; j++ { x[i]++ }; if j != cocoon_m { break } } } }`},
		{"labelled", `func a(n int) { L: for i := 0; i < n; i++ { continue L } }`, `func a(n int) { L: for i := 0; i < n; i++ {POLL continue L } }`},
		{"without a condition", `func a() int { for i := 0; ; i++ { if i > 1e6 { return i } } }`, `func a() int { for i := 0; ; i++ {POLL if i > 1e6 { return i } } }`},
		{"wide step of a small type", `func a(n int8) { for i := int8(0); i < n; i += 16 { n /= 2 } }`, `func a(n int8) { for i := int8(0); i < n; i += 16 {POLL n /= 2 } }`},
		{"map", `func a(m map[int]int) { for k := range m { m[k]++ } }`, `func a(m map[int]int) { for k := range m {POLL m[k]++ } }`},
		{"outer variable", `func a(x []int) { var i int; for i = range x { x[i]++ } }`, `func a(x []int) { var i int; for i = range x {POLL x[i]++ } }`},
		{"goto back", `func a(n int) { L: n--; if n > 0 { goto L } }`, `func a(n int) { L: n--; if n > 0 { POLLgoto L } }`},
		{"goto ahead", `func a(n int) { if n > 0 { goto L }; n++; L: n-- }`, ""},

		{"leaf", `func a(n int) int { return swift(swift(n)) }`, ""},
		{"recursion behind the way out", `func a(n int) int { if n < 2 { return n }; return a(n-1) + a(n-2) }`,
			`func a(n int) int { if n < 2 { return n }; for !cocoon_raised() { return a(n-1) + a(n-2) }; cocoon_answerNow(); return a(n-1) + a(n-2) }`},
		{"recursion in a return statement of two lines", "func a(n int) int { if n < 2 { return n }; return a(n-1) +\na(n-2) }",
			"func a(n int) int { if n < 2 { return n }; POLLreturn a(n-1) +\na(n-2) }"},
		{"recursion in a return statement with a copy", `func a(x, y []int) int { if len(x) < 2 { return 0 }; return a(y, x) + copy(x, y) }`,
			`func a(x, y []int) int { if len(x) < 2 { return 0 }; POLLreturn a(y, x) + cocoon_bulkCopy(x, y, cocoon_bulkCopyPieces) }`},
		{"recursion in a return statement with a literal", `func a(x int, f func()) int { if x < 2 { return 0 }; return a(x-1, func() { x-- }) }`,
			`func a(x int, f func()) int { if x < 2 { return 0 }; POLLreturn a(x-1, func() { x-- }) }`},
		{"recursion with a deferred call", `func a(x int) int { defer swift(1); if x < 2 { return 0 }; return a(x-1) }`,
			`func a(x int) int { defer swift(1); if x < 2 { return 0 }; POLLreturn a(x-1) }`},
		{"one poll for two", `func a(n int) bool { return n == 0 || b(n-1) }; func b(n int) bool { return n != 0 && a(n-1) }`,
			`func a(n int) bool { POLLreturn n == 0 || b(n-1) }; func b(n int) bool { return n != 0 && a(n-1) }`},
		{"in each branch", `func a(n int) { switch n { case 1: n++; case 2: a(3); n--; default: if n > 5 { n++; a(n) } else { n++ } } }`,
			`func a(n int) { switch n { case 1: n++; case 2: POLLa(3); n--; default: if n > 5 { n++; POLLa(n) } else { n++ } } }`},
		{"in a condition", `func a(n int) bool { n++; if a(n) { return true }; return false }`, `func a(n int) bool { n++; POLLif a(n) { return true }; return false }`},
		{"its loop polls", `func a(n int) { for n > 0 { n--; a(n) } }`, `func a(n int) { for n > 0 {POLL n--; a(n) } }`},
		{"interface", `func a(i I) { i.M() }`, `func a(i I) { POLLi.M() }`},
		{"function value", `func a(n int) { if n > 0 { f() } }`, `func a(n int) { if n > 0 { POLLf() } }`},
		{"its argument", `func a(n int, g func(int)) { g(n) }; func b(n int) { a(n, b) }`, `func a(n int, g func(int)) { g(n) }; func b(n int) { POLLa(n, b) }`},
		{"its argument, and more", `func a(g func()) { g(); f() }; func b() { a(b) }`, `func a(g func()) { POLLg(); f() }; func b() { a(b) }`},
		{"its argument, a literal", `func a(n int, g func(int)) { g(n) }; func b(n int) { a(n, func(m int) { n += m }) }`, ""},
		{"its argument, a literal that comes back", `func a(n int, g func(int)) { g(n) }; func b(n int) { a(n, func(m int) { b(m) }) }`,
			`func a(n int, g func(int)) { g(n) }; func b(n int) { POLLa(n, func(m int) { b(m) }) }`},
		{"its argument, a literal that calls away", `func a(n int, g func(int)) { g(n) }; func b(n int) { a(n, func(int) { f() }) }`,
			`func a(n int, g func(int)) { g(n) }; func b(n int) { a(n, func(int) { POLLf() }) }`},
		{"its argument, a function that comes back", `func a(n int, g func(int)) { g(n) }; func b(n int) { a(n, c) }; func c(n int) { b(n) }`,
			`func a(n int, g func(int)) { g(n) }; func b(n int) { POLLa(n, c) }; func c(n int) { b(n) }`},
		{"its argument, one of two is known", `func a(n int, g, h func(int)) { g(n); h(n) }; func b(n int, h func(int)) { a(n, func(int) {}, h) }`,
			`func a(n int, g, h func(int)) { g(n); h(n) }; func b(n int, h func(int)) { POLLa(n, func(int) {}, h) }`},
		{"its argument, of a type parameter", `func a[F func(int)](n int, g F) { g(n) }; func b[F func(int)](n int, h F) { a(n, h) }`,
			`func a[F func(int)](n int, g F) { g(n) }; func b[F func(int)](n int, h F) { POLLa(n, h) }`},
		{"its argument, a method", `func a(n int, g func()) { g() }; func (t T) b() { a(t.n, t.b) }`, `func a(n int, g func()) { g() }; func (t T) b() { POLLa(t.n, t.b) }`},
		{"its argument, an interface's method", `func a(n int, g func()) { g() }; func b(i I) { a(1, i.M) }`, `func a(n int, g func()) { g() }; func b(i I) { POLLa(1, i.M) }`},
		{"its argument, replaced", `func a(g func()) { g = f; g() }`, `func a(g func()) { g = f; POLLg() }`},
		{"its argument, in a literal", `func a(g func()) { f = func() { g() } }`, `func a(g func()) { f = func() { POLLg() } }`},
		{"new goroutine", `func a() { go a() }`, ""},
		{"literal that calls itself", `func a() { var g func(); g = func() { g() }; _ = g }`, `func a() { var g func(); g = func() { POLLg() }; _ = g }`},

		{"lock", `func a() { mu.Lock(); for { f() }; mu.Unlock(); for { f() } }`, `func a() { POLLmu.Lock(); for { f() }; mu.Unlock(); for {POLL f() } }`},
		{"lock, deferred", `func a(n int) { for n > 0 { f() }; mu.RLock(); defer mu.RUnlock(); for { f() } }`, `func a(n int) { for n > 0 {POLL f() }; mu.RLock(); defer mu.RUnlock(); for {POLL f() } }`},
		{"lock, released in a deferred literal", `func a() { mu.Lock(); defer func() { mu.Unlock() }(); for { f() } }`,
			`func a() { mu.Lock(); defer func() { mu.Unlock() }(); for {POLL f() } }`},
		{"lock, may be released in a deferred literal", `func a(n int) { mu.Lock(); defer func() { if n > 0 { mu.Unlock() } }(); for { n++ } }`, ""},
		{"lock, may not come to its release", `func a(n int) { mu.Lock(); defer func() { if n > 0 { return }; mu.Unlock() }(); for { n++ } }`, ""},
		{"lock, deferred on one way", `func a(n int) { mu.Lock(); if n > 0 { defer mu.Unlock() }; for { n++ } }`, ""},
		{"lock, deferred on each way", `func a(n int) { mu.Lock(); if n > 0 { defer mu.Unlock() } else { defer mu.Unlock() }; for { if n++; n > 3 { continue } } }`,
			`func a(n int) { mu.Lock(); if n > 0 { defer mu.Unlock() } else { defer mu.Unlock() }; for {POLL if n++; n > 3 { continue } } }`},
		{"lock, deferred, and another is not", `func a(n int) { mu.Lock(); defer mu.Unlock(); other.Lock(); for n > 0 { if n /= 2; n > 3 { continue } }; other.Unlock(); for { if n++; n > 3 { continue } } }`,
			`func a(n int) { mu.Lock(); defer mu.Unlock(); other.Lock(); for n > 0 { if n /= 2; n > 3 { continue } }; other.Unlock(); for {POLL if n++; n > 3 { continue } } }`},
		{"lock, early exit", `func a(n int) { mu.Lock(); if n > 0 { mu.Unlock(); return }; for { f() } }`,
			`func a(n int) { POLLmu.Lock(); if n > 0 { mu.Unlock(); return }; for { f() } }`},
		{"lock, another released", `func a(n int) { mu.Lock(); other.Unlock(); for { f() } }`, ""},
		{"lock in a loop", `func a(n int) { for n > 0 { mu.Lock(); for n > 5 { n /= 2 }; mu.Unlock() } }`, `func a(n int) { for n > 0 {POLL mu.Lock(); for n > 5 { n /= 2 }; mu.Unlock() } }`},
		{"lock, released before a return", `func a(n int) { for n > 0 { n--; if n > 7 { mu.Unlock(); f(); return }; mu.Unlock(); f(); mu.Lock() } }`,
			`func a(n int) { for n > 0 { n--; if n > 7 { mu.Unlock(); f(); return }; mu.Unlock(); POLLf(); mu.Lock() } }`},
		{"lock, released and taken back", `func a(n int) { for n > 0 { n--; mu.Unlock(); f(); mu.Lock() } }`, `func a(n int) { for n > 0 { n--; mu.Unlock(); POLLf(); mu.Lock() } }`},
		{"lock, given up in a loop", `func a(n int) { mu.Lock(); for n > 0 { for n > 9 { n /= 2 }; if n > 3 { mu.Unlock(); mu.Lock() } }; mu.Unlock() }`,
			`func a(n int) { mu.Lock(); for n > 0 { for n > 9 { n /= 2 }; if n > 3 { mu.Unlock(); POLLmu.Lock() } }; mu.Unlock() }`},
		{"lock, given up behind its defer", `func a(n int) { mu.Lock(); defer mu.Unlock(); for n > 0 { mu.Unlock(); for n > 9 { if n /= 2; n > 3 { continue } }; mu.Lock() } }`,
			`func a(n int) { mu.Lock(); defer mu.Unlock(); for n > 0 {POLL mu.Unlock(); for n > 9 {POLL if n /= 2; n > 3 { continue } }; mu.Lock() } }`},
		{"lock, released on the way out of a loop", `func a(n int) { mu.Lock(); for n > 0 { if n > 3 { mu.Unlock(); return }; n-- }; mu.Unlock() }`, ""},
		{"lock, tried", `func a() { if mu.TryLock() { for { f() } } }`, `func a() { POLLif mu.TryLock() { for { f() } } }`},
		{"lock, released in each branch", `func a(n int) { for { mu.Lock(); if n > 0 { n++; mu.Unlock() } else { mu.Unlock() }; for n < 7 { n *= 2 } } }`,
			`func a(n int) { for {POLL mu.Lock(); if n > 0 { n++; mu.Unlock() } else { mu.Unlock() }; for n < 7 {POLL n *= 2 } } }`},
		{"lock, released in one branch", `func a(n int) { mu.Lock(); if n > 0 { mu.Unlock() }; for n < 7 { n *= 2 } }`, ""},
		{"lock, released in each case", `func a(n int) { mu.Lock(); switch n { case 1: mu.Unlock(); return; case 2: mu.Unlock(); default: mu.Unlock() }; for n < 7 { n *= 2 } }`,
			`func a(n int) { mu.Lock(); switch n { case 1: mu.Unlock(); return; case 2: mu.Unlock(); default: mu.Unlock() }; for n < 7 {POLL n *= 2 } }`},
		{"lock, released in some cases", `func a(n int) { mu.Lock(); switch n { case 1: mu.Unlock(); return; case 2: mu.Unlock() }; for n < 7 { n *= 2 } }`, ""},
		{"lock, handed from loop to loop", `func a(n int) { mu.Lock(); for n < 7 { n++; if n == 3 { mu.Unlock(); break }; n++ }; for n < 9 { n *= 2 } }`, ""},
		{"lock, released before each break", `func a(n int) { for { mu.Lock(); if n > 3 { mu.Unlock(); break }; n++; mu.Unlock() }; for n < 9 { n *= 2 } }`,
			`func a(n int) { for {POLL mu.Lock(); if n > 3 { mu.Unlock(); break }; n++; mu.Unlock() }; for n < 9 {POLL n *= 2 } }`},
		{"lock, not got", `func a(n int) { if !mu.TryLock() { for n < 7 { n *= 2 }; return }; for n < 9 { n *= 2 }; mu.Unlock() }`,
			`func a(n int) { if !mu.TryLock() { for n < 7 {POLL n *= 2 }; return }; for n < 9 { n *= 2 }; mu.Unlock() }`},
		{"lock, released in between, and deferred", `func a(n int) { mu.Lock(); defer mu.Unlock(); mu.Unlock(); for n < 7 { if n *= 2; n > 3 { continue } }; mu.Lock() }`,
			`func a(n int) { mu.Lock(); defer mu.Unlock(); mu.Unlock(); for n < 7 {POLL if n *= 2; n > 3 { continue } }; mu.Lock() }`},
		{"lock, taken and kept on a way", `func a(n int) { if n > 3 { mu.Lock() }; for n < 7 { n *= 2 }; if n > 3 { mu.Unlock() } }`, ""},
		{"lock, deferred in a branch that returns", `func a(n int) { if n > 3 { mu.Lock(); defer mu.Unlock(); return }; for n < 7 { if n *= 2; n > 3 { continue } } }`,
			`func a(n int) { if n > 3 { mu.Lock(); defer mu.Unlock(); return }; for n < 7 {POLL if n *= 2; n > 3 { continue } } }`},
		{"lock, a deferred literal's own", `func a(n int) { defer func() { mu.Lock(); mu.Unlock() }(); for n < 7 { if n *= 2; n > 3 { continue } } }`,
			`func a(n int) { defer func() { mu.Lock(); mu.Unlock() }(); for n < 7 {POLL if n *= 2; n > 3 { continue } } }`},
		{"semaphore", `func a(s chan struct{}) { for { s <- struct{}{}; for { if f != nil { break } }; <-s } }`, `func a(s chan struct{}) { for {POLL s <- struct{}{}; for { if f != nil { break } }; <-s } }`},
		{"semaphore, deferred", `func a(s chan struct{}) { s <- struct{}{}; defer func() { <-s }(); for { f() } }`, `func a(s chan struct{}) { s <- struct{}{}; defer func() { <-s }(); for {POLL f() } }`},
		{"signal", `func a(s, t chan struct{}) { <-t; s <- struct{}{}; for { f() } }`, `func a(s, t chan struct{}) { <-t; s <- struct{}{}; for {POLL f() } }`},
		{"answer before a question", `func a(s chan struct{}) { for { <-s; for { if f != nil { break } }; s <- struct{}{} } }`,
			`func a(s chan struct{}) { for {POLL <-s; for {POLL if f != nil { break } }; s <- struct{}{} } }`},
		{"enter and leave", `func a(x interface{ enter(); leave() }, n int) { x.enter(); for n > 0 { if n /= 2; n > 3 { continue } }; x.leave(); for n > 0 { if n /= 2; n > 3 { continue } } }`,
			`func a(x interface{ enter(); leave() }, n int) { POLLx.enter(); for n > 0 { if n /= 2; n > 3 { continue } }; x.leave(); for n > 0 {POLL if n /= 2; n > 3 { continue } } }`},
		{"acquire, released elsewhere", `func a(x interface{ Acquire() }, n int) { x.Acquire(); for n > 0 { if n /= 2; n > 3 { continue } } }`,
			`func a(x interface{ Acquire() }, n int) { POLLx.Acquire(); for n > 0 {POLL if n /= 2; n > 3 { continue } } }`},
		{"lock, goto", `func a(n int) { again: mu.Lock(); if n > 3 { n--; goto again }; mu.Unlock(); if n > 2 { goto again } }`,
			`func a(n int) { again: mu.Lock(); if n > 3 { n--; goto again }; mu.Unlock(); if n > 2 { POLLgoto again } }`},
		{"lock, empty loop", `func a() { mu.Lock(); for {} }; func b() { mu.Lock(); mu.Unlock(); for {} }`, `func a() { mu.Lock(); for {} }; func b() { mu.Lock(); mu.Unlock(); for {POLL} }`},
		{"between an acquisition and its defer", "func a() { h := f; defer h(); defer h(); h = nil; f()\n}\n\nfunc b() { h := f; defer h()\n}",
			"func a() { h := f; defer h(); defer h(); POLLh = nil; f()\n}\n\nfunc b() { POLLh := f; defer h()\n}"},
		{"between an acquisition and a call that is deferred later", `func a(i I) { h := f; n := swift(3); defer i.M(); defer h(); h = nil }`,
			`func a(i I) { h := f; n := swift(3); defer i.M(); defer h(); POLLh = nil /*line :2:1*/}/*line :1:82*/`},
		{"deferred literal reads an error", "func a() (err error) { defer func() { if err != nil { f() } }(); f()\nreturn err }",
			"func a() (err error) { defer func() {if cocoon_unwinds() && err == nil { err = cocoon_failed() }; if err != nil { f() } }(); POLLf()\nreturn err }"},
		{"deferred function gets an error's address", "func a() error { var err error; defer g(&err); f(); return err }; func g(*error) { f() }",
			"func a() error { var err error; defer g(&err); defer func() { if cocoon_unwinds() && err == nil { err = cocoon_failed() }; }(); POLLf(); /*line :2:1*/return/*line :1:70*/ err /*line :2:1*/}/*line :1:76*/; func g(*error) { POLLf() }"},
		{"deferred literal assigns an error, or has one of its own", "func a() (err error) { defer func() { err = nil; err := g(); println(err) }(); f()\nreturn\n}; func g() error { return nil }",
			"func a() (err error) { defer func() { err = nil; err := g(); println(err) }(); POLLf()\nreturn\n}; func g() error { return nil }"},
		{"literal under a lock", `func a() { mu.Lock(); func() { for { f() } }(); go func() { for { f() } }(); mu.Unlock() }`,
			`func a() { mu.Lock(); func() { for { f() } }(); go func() { for {POLL f() } }(); mu.Unlock() }`},
		{"poll before the lock", `func a(i I) { mu.Lock(); defer mu.Unlock(); i.M() }`, `func a(i I) { POLLmu.Lock(); defer mu.Unlock(); i.M() }`},

		{"goroutines owed", `func a(n int) { for { f() }; wg.Add(n); defer wg.Wait(); for range n { for { f() }; for range n { f(); go f() } }; for { f() } }`,
			`func a(n int) { POLLfor {POLL f() }; wg.Add(n); defer wg.Wait(); for range n { for { f() }; for range n { f(); go f() } }; for {POLL f() } }`},
		{"goroutine owed in each iteration", `func a(n int) { defer func() { wg.Wait() }(); for { f(); wg.Add(1); for { f() }; go f(); for { f() } } }`,
			`func a(n int) { defer func() { wg.Wait() }(); for {POLL f(); wg.Add(1); for { f() }; go f(); for {POLL f() } } }`},
		{"goroutines owed, started elsewhere", `func a(n int) { defer wg.Wait(); go f(); wg.Add(n); for { start() } }; func start() { for { go f() } }`,
			`func a(n int) { defer wg.Wait(); go f(); wg.Add(n); for { start() } }; func start() { for {POLL go f() } }`},
		{"goroutines owed in a literal", `func a() { defer wg.Wait(); wg.Add(1); func() { for { f() } }(); go f() }`, ""},
		{"goroutines that nobody waits for", `func a(n int) { wg.Add(n); for { go f() }; wg.Wait() }`, `func a(n int) { wg.Add(n); for {POLL go f() }; wg.Wait() }`},
		{"goroutines of another group", `func a(n int) { wg.Add(n); defer group.Wait(); for { go f() } }`, `func a(n int) { wg.Add(n); defer group.Wait(); for {POLL go f() } }`},

		{"string of its own", `func a(i I) { for { i.M() } }; type string I`, ""},

		{"copy", `func a(x, y []int) int { defer swift(1); return copy(x[1:], y) }`,
			`func a(x, y []int) int { defer swift(1); return cocoon_bulkCopy(x[1:], y, cocoon_bulkCopyPieces) }`},
		{"copy a text", `func a(x []byte, y string) { defer swift(1); copy(x, y) }`,
			`func a(x []byte, y string) { defer swift(1); cocoon_bulkCopyString(x, y, cocoon_bulkCopyStringPieces) }`},
		{"append", `func a(x, y []int) { defer swift(1); x = append(x, y...); x = append(x, 1); x = append(x) }`,
			`func a(x, y []int) { defer swift(1); x = cocoon_bulkAppend(x, y, cocoon_bulkAppendPieces); x = append(x, 1); x = append(x) }`},
		{"append a text", `func a(x []byte, y string) []byte { defer swift(1); return append(x, y...,) }`,
			`func a(x []byte, y string) []byte { defer swift(1); return cocoon_bulkAppendString(x, y, cocoon_bulkAppendStringPieces,) }`},
		{"append to nil what a call returns", `func a(y func() []int) []int { defer swift(1); return append([]int(nil), y()...) }`,
			`func a(y func() []int) []int { defer swift(1); return cocoon_bulkAppend([]int(nil), y(), cocoon_bulkAppendPieces) }`},
		{"extend", `func a(x []int, n int) []int { defer swift(1); return append(x, make([]int, n)...) }`,
			`func a(x []int, n int) []int { defer swift(1); return cocoon_bulkExtend(x, n, cocoon_bulkExtendPieces) }`},
		{"clear", `func a(x []int, y map[int]int) { defer swift(1); clear(x); clear(y) }`,
			`func a(x []int, y map[int]int) { defer swift(1); cocoon_bulkClear(x, cocoon_bulkClearPieces); clear(y) }`},
		{"make and copy", `func a(x []int) []int { defer swift(1); y := make([]int, len(x)); copy(y, x); return y }`,
			`func a(x []int) []int { defer swift(1); y := cocoon_bulkMade[[]int](len(x), x, cocoon_bulkMadePieces); _ = y; return y }`},
		{"make more and copy", `func a(x []int) []int { defer swift(1); y := make([]int, len(x), cap(x)); copy(y, x); return y }`,
			`func a(x []int) []int { defer swift(1); y := make([]int, len(x), cap(x)); cocoon_bulkCopy(y, x, cocoon_bulkCopyPieces); return y }`},
		{"make and copy elsewhere", `func a(x []int) []int { defer swift(1); y := make([]int, len(x)); copy(y[1:], x); return y }`,
			`func a(x []int) []int { defer swift(1); y := make([]int, len(x)); cocoon_bulkCopy(y[1:], x, cocoon_bulkCopyPieces); return y }`},
		{"make and copy from itself", `func a(n int) []int { defer swift(1); y := make([]int, n); copy(y, y[1:]); return y }`,
			`func a(n int) []int { defer swift(1); y := make([]int, n); cocoon_bulkCopy(y, y[1:], cocoon_bulkCopyPieces); return y }`},
		{"make and copy what a call returns", `func a(x []int) []int { defer swift(1); y := make([]int, swift(3)); copy(y, x); return y }`,
			`func a(x []int) []int { defer swift(1); y := make([]int, swift(3)); cocoon_bulkCopy(y, x, cocoon_bulkCopyPieces); return y }`},
		{"copy, of little for sure", `func a(x []byte, y [8]byte) { defer swift(1); copy(x, "text"); copy(x[2:8], x); copy(x, y[:]); x = append(x, "text"...); x = append(x, []byte{1}...); x = append(x, make([]byte, 8)...) }`, ""},
		{"copy, in order", `func a(x *[]int, y func() []int) { defer swift(1); copy(*x, y()); *x = append(*x, y()...); *x = append(*x, make([]int, len(y()))...) }`, ""},
		{"append what a call returns to a variable", `func a(x []int, y func() []int) { defer swift(1); x = append(x, y()...); _ = func() { x = append(x, y()...) } }`,
			`func a(x []int, y func() []int) { defer swift(1); x = append(x, y()...); _ = func() { POLLx = append(x, y()...) } }`},
		{"copy, may be inlined", `func a(x, y []int) int { return copy(x, y) + copy(y, x) }`, ""},
		{"copy, inlined all the same", `func a(x, y []int) { copy(x, y) }`, `func a(x, y []int) { cocoon_bulkCopy(x, y, cocoon_bulkCopyPieces) }`},
		{"copy under a lock", `func a(x, y []int) { defer swift(1); mu.Lock(); copy(x, y); mu.Unlock() }`, ""},
		{"copy, deferred", `func a(x, y []int) { defer copy(x, y); go copy(x, y) }`, ""},
		{"another copy", `func a(x, y []int, copy func(x, y []int)) { defer swift(1); copy(x, y) }`, ""},

		{"init", `func init() { for { f() } }`, ""},
		{"literal that init keeps", `func init() { f = func() { for { f() } } }`, `func init() { f = func() { for {POLL f() } } }`},
		{"initialiser", `var x = func() int { for { f() } }()`, ""},
		{"literal in a variable", `var x = func() { for { f() } }`, `var x = func() { for {POLL f() } }`},
		{"deferred", "func a() { defer func() { for { f() } }()\n}", ""},
		{"deferred by name", "func a() { defer b()\n}\nfunc b() { for { f() } }", "func a() { defer b()\n}\nfunc b() { for {POLL f() } }"},
		{"method named init", `func (T) init() { for { f() } }`, `func (T) init() { for {POLL f() } }`},
		{"nosplit", "\n//go:nosplit\nfunc a() { for { f() } }", ""},
		{"nosplit, and its literals", "\n//go:nosplit\n\n// a comment\nfunc a() { f = func() { for { f() } } }", ""},
		{"nosplit of another", "\n//go:nosplit\nfunc a() {}\nfunc b() { for { f() } }", "\n//go:nosplit\nfunc a() {}\nfunc b() { for {POLL f() } }"},
		{"norace", "\n//go:norace\nfunc a() { for { f() } }", ""},
		{"linkname", "\nfunc a() { for { f() } }\n//go:linkname a other.a", ""},
		{"linkname of a method's name", "\nfunc (T) a() { for { f() } }\n//go:linkname a other.a", "\nfunc (T) a() { for {POLL f() } }\n//go:linkname a other.a"},
		{"exported to C", "\n//export a\nfunc a() { for { f() } }", ""},
		{"no directive", "\n // go:nosplit\nfunc a() { for { f() } }", "\n // go:nosplit\nfunc a() { for {POLL f() } }"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			if want == "" {
				want = c.src
			}
			got, _ := rewriteText(t, "package p; "+c.src+declarations, Options{})
			if want = "package p; " + want + declarations; got != want {
				t.Errorf("got\n%s\nwant\n%s", strings.TrimSuffix(got, declarations), strings.TrimSuffix(want, declarations))
			}
		})
	}
}

func TestLeft(t *testing.T) {
	_, stats := rewriteText(t, `package p
var f func()
func init() {
	for { f() }
}
type T struct{ mu interface{ Lock() } }
func (t *T) a() {
	t.mu.Lock()
	for { f() }
}
`, Options{})
	var got []string
	for _, l := range stats.Left {
		got = append(got, l.Func+" "+l.What+" "+l.Why)
	}
	want := []string{
		"init loop the package is being initialised",
		"(*T).a loop a lock is held",
		"init recursion the package is being initialised",
	}
	if !slices.Equal(got, want) || stats.Left[1].Pos.Line != 9 {
		t.Errorf("got %q, line %d", got, stats.Left[1].Pos.Line)
	}
}

// TestNamesDoNotCollide checks that inserted names differ from all names of the package.
func TestNamesDoNotCollide(t *testing.T) {
	got, _ := rewriteText(t, `package p; func cocoon_raised(xcocoon_i []int) { for range xcocoon_i { cocoon_raised(nil) } }`, Options{})
	if !strings.Contains(got, "if xxcocoon_raised() { xxcocoon_answerNow() };") {
		t.Error(got)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, src string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		p    Package
		want string
	}{
		{Package{Path: "p", Files: []string{write("a.go", "package p\nfunc {")}}, "a.go:2:6: expected"},
		{Package{Path: "p", Files: []string{filepath.Join(dir, "none.go")}}, "none.go"},
		{Package{Path: "runtime/internal/x", Std: true}, "instrument: runtime/internal/x: the runtime runs where"},
		{Package{Path: module + "/safepoint"}, "Cocoon's own scheduler"},
		{Package{Path: module + "/internal/sched"}, "Cocoon's own scheduler"},
		{Package{Path: module + "/cocoonhttp"}, "it says itself where"},
		{Package{Path: module + "/cocoonsql"}, "it says itself where"},
		{Package{Path: module + "/cocoongrpc"}, "it says itself where"},
	} {
		if _, err := Rewrite(c.p, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if res, err := Rewrite(Package{Path: "p", Files: []string{write("b.go", "package p\n"), write("c.go", "package p\nvar x undefined = 1 + \"\"\nfunc a() { for { y() } }")}}, Options{}); err != nil || res.Stats.LoopPolls != 1 {
		t.Errorf("what does not type-check is the compiler's concern: %v", err)
	}
	if res, err := Rewrite(Package{Path: "p"}, Options{}); err != nil || len(res.Files) != 0 {
		t.Errorf("an empty package: %v", err)
	}
}
