package instrument

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

const dictionaries = `package main

import "cmp"

func isSorted[S ~[]E, E cmp.Ordered](x S) bool { for i := len(x) - 1; i > 0; i-- { if cmp.Less(x[i], x[i-1]) { return false } }; return true }
func compare[E cmp.Ordered](a, b []E) int { for i, v := range a { if c := cmp.Compare(v, b[i]); c != 0 { return c } }; return 0 }
func within[E cmp.Ordered](x []E, most E) bool { for i := 0; i < len(x); i++ { if cmp.Less(most, x[i]) { return false } }; return true }
func plain(x []int) (n int) { for _, v := range x { if cmp.Less(v, 9) { n++ } }; return n }
func concrete[E any](x []E, y []int) (n int) { for i := range x { if cmp.Less(y[i], 9) { n++ } }; return n }
func hidden[E cmp.Ordered](x []E) (n int) { { type E int; for _, v := range x { if !cmp.Less(v, v) { n += int(E(1)) } } }; return n }
func counts[t cmp.Ordered](x []t, a t) (n int) { for t := 0; t < len(x); t++ { if cmp.Less(x[t], a) { n++ } }; return n }
func ranges[t cmp.Ordered](x []t, a t) (n int) { for t := range x { if cmp.Less(x[t], a) { n++ } }; return n }

func each[E cmp.Ordered](at func(int) E) {
	x := make([]E, 5000)
	for i := range x { x[i] = at(i) }
	println(isSorted(x), compare(x, x), within(x, x[len(x)-1]), within(x, x[7]), hidden(x), counts(x, x[7]), ranges(x, x[7]))
	x[400] = x[5]
	println(isSorted(x), compare(x, x), within(x[400:], x[5]))
}

func main() {
	each(func(i int) int { return i })
	each(func(i int) float64 { if i < 50 { return zero / zero }; return float64(i) })
	each(func(i int) string { return string(rune(i + 60000)) })
	println(plain([]int{1, 20}), concrete([]string{"a", "b"}, []int{1, 20}))
}

var zero float64
`

// TestDictionaries checks that a loop of a generic function finds the dictionary of cmp.Less or
// cmp.Compare once for each piece, and that it has the same results.
func TestDictionaries(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "main.go")
	for name, text := range map[string]string{path: dictionaries, filepath.Join(dir, "go.mod"): "module loops\n\ngo 1.25\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	res, err := Rewrite(Package{Path: "main", Files: []string{path}, Exports: exported(t)}, Options{})
	if err != nil || res.Stats.Strips < 8 {
		t.Fatalf("%v; %d loops are taken into pieces", err, res.Stats.Strips)
	}
	want := map[string]string{
		"isSorted": "var cocoon_z E; _ = cmp.Less(cocoon_z, cocoon_z); if i > cocoon_first",
		"compare":  "var cocoon_z E; _ = cmp.Compare(cocoon_z, cocoon_z); if i < 0",
		"within":   "var cocoon_z E; _ = cmp.Less(cocoon_z, cocoon_z); if i < 0",
	}
	for line := range strings.Lines(string(res.Files[path])) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "func "), "[")
		if text := want[name]; !strings.Contains(line, text) || text == "" && strings.Contains(line, "cocoon_z") {
			t.Errorf("want %q in %s", text, line)
		}
	}
	if longtest.Off() {
		return // TestLoopForms runs a program in the short form, too
	}
	// With -trimpath the build cache keeps the program, although its folder has another name each time.
	run := func() string { return run(t, "go", "run", "-C", dir, "-trimpath", ".") }
	plainly := run()
	for name, text := range res.Files {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sameLines(t, run(), plainly)
}
