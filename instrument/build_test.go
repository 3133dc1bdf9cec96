package instrument

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir, Name, Export string
	GoFiles, CgoFiles             []string
	Standard                      bool
	ImportMap                     map[string]string
	Module                        *struct{ GoVersion string }
}

// lists holds the results of list, because each takes the go command half a second.
var lists, exportFiles = map[string][]listed{}, map[string]string{}

// list returns the packages that match, with all their dependencies.
func list(t testing.TB, patterns ...string) (all []listed) {
	t.Helper()
	key := strings.Join(patterns, " ")
	if lists[key] == nil {
		lists[key] = listIn(t, ".", patterns...)
	}
	return lists[key]
}

func listIn(t testing.TB, dir string, patterns ...string) (all []listed) {
	t.Helper()
	args := append([]string{"list", "-C", dir, "-deps", "-export", "-json=ImportPath,Dir,Name,Export,GoFiles,CgoFiles,Standard,ImportMap,Module"}, patterns...)
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// imported are the packages of the standard library that the texts of the tests import.
var imported = []string{"cmp", "context", "errors", "fmt", "log/slog", "math", "net/http", "os", "reflect", "runtime", "sort", "sync", "testing", "time", "unique"}

// exported returns the files with the exports of the imported packages. One list has them all,
// because each list takes long.
func exported(t testing.TB) map[string]string {
	t.Helper()
	if len(exportFiles) == 0 {
		for _, l := range list(t, imported...) {
			exportFiles[l.ImportPath] = l.Export
		}
	}
	return exportFiles
}

// packages selects the packages to rewrite.
func packages(all []listed, chosen func(listed) bool) (ps []Package) {
	exported := map[string]string{}
	for _, l := range all {
		exported[l.ImportPath] = l.Export
	}
	for _, l := range all {
		if Refused(l.ImportPath, l.Standard) != "" || !chosen(l) {
			continue
		}
		p := Package{Path: l.ImportPath, Std: l.Standard, ImportMap: l.ImportMap, Exports: exported}
		if l.Module != nil {
			p.GoVersion = "go" + l.Module.GoVersion
		}
		for _, f := range append(l.GoFiles, l.CgoFiles...) {
			p.Files = append(p.Files, filepath.Join(l.Dir, f))
		}
		ps = append(ps, p)
	}
	return ps
}

// overlay rewrites the packages, and returns the file for the go command's -overlay.
func overlay(t testing.TB, ps []Package, o Options) (file string, stats map[string]Stats) {
	t.Helper()
	dir, stats := t.TempDir(), map[string]Stats{}
	replace := map[string]string{}
	for _, p := range ps {
		res, err := Rewrite(p, o)
		if err != nil {
			t.Fatal(err)
		}
		stats[p.Path] = res.Stats
		for path, text := range res.Files {
			to := filepath.Join(dir, strconv.Itoa(len(replace))+filepath.Ext(path))
			if err := os.WriteFile(to, text, 0o600); err != nil {
				t.Fatal(err)
			}
			replace[path] = to
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, stats
}

func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func chosenAll(listed) bool { return true }

func chosenOwn(l listed) bool { return !l.Standard }

// TestHostile checks that a rewritten program prints the same as the plain one, whether or not its
// dependencies are rewritten.
func TestHostile(t *testing.T) {
	all := list(t, "./testdata/hostile")
	want := run(t, "go", "run", "./testdata/hostile")
	for name, chosen := range map[string]func(listed) bool{"own": chosenOwn, "all": chosenAll} {
		t.Run(name, func(t *testing.T) {
			if name == "all" {
				longtest.Skip(t, "it builds the standard library")
			}
			ps := packages(all, chosen)
			sections := map[string]bool{}
			for _, f := range []string{"unnamed", "onlyError", "twice", "fib", "(*guarded).all"} {
				sections["github.com/cocoon-go/cocoon/instrument/testdata/hostile."+f] = true
			}
			file, stats := overlay(t, ps, Options{Sections: sections})
			if n := len(stats["github.com/cocoon-go/cocoon/instrument/testdata/hostile"].Sections); n != len(sections) {
				t.Errorf("%d sections, want %d", n, len(sections))
			}
			if got := run(t, "go", "run", "-overlay", file, "./testdata/hostile"); got != want {
				t.Errorf("rewritten it prints\n%s\nplain it prints\n%s", got, want)
			}
			for path, s := range stats {
				t.Logf("%-40s %4d functions %4d loops: %d poll, %d stripped; %d entries, %d left", path, s.Functions, s.Loops, s.LoopPolls, s.Strips, s.Entries, len(s.Left))
			}
		})
	}
}

const bulk = module + "/instrument/testdata/bulk"

// TestBulk checks that copies of much data in pieces have the same results, with and without
// uncleared memory, and that they poll.
func TestBulk(t *testing.T) {
	longtest.Skip(t, "it builds most of the standard library again")
	bin := filepath.Join(t.TempDir(), "bulk")
	run(t, "go", "build", "-o", bin, bulk)
	want := run(t, bin, "all")
	for _, flag := range []string{"-tags=fresh", "-tags=", "-race"} {
		t.Run(flag, func(t *testing.T) {
			file, stats := overlay(t, packages(list(t, flag, bulk), func(l listed) bool {
				return l.ImportPath == bulk || l.ImportPath == "bytes" || l.ImportPath == "slices" || l.ImportPath == "strings"
			}), Options{})
			for path, s := range stats {
				if s.Bulks == 0 {
					t.Errorf("%s: nothing is done in pieces", path)
				}
			}
			run(t, "go", "build", "-overlay", file, "-o", bin, flag, bulk)
			if flag != "-race" { // with which it takes a minute
				sameLines(t, run(t, bin, "all"), want)
			}
			if flag == "-tags=fresh" {
				return // the polls are the runtime's
			}
			// One more than the pieces, for the call of a function value. Without a runtime there
			// is no uncleared memory to extend to.
			const polls = "append 1 17, append in place 1 5, append little to much 1 18, append text 1 17, extend 1 1, " +
				"copy 1 5, make and copy 1 5, copy text 1 5, copy from within 1 1, clear 1 17, clear pointers 1 17, "
			if got := strings.ReplaceAll(run(t, bin, "count"), "\n", ", "); got != polls {
				t.Errorf("it polls\n%s\nwant\n%s", got, polls)
			}
		})
	}
}

func sameLines(t *testing.T, rewritten, plain string) {
	t.Helper()
	got, want := strings.Split(rewritten, "\n"), strings.Split(plain, "\n")
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("line %d: rewritten it prints %q, plain %q", i+1, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("rewritten it prints %d lines, plain %d", len(got), len(want))
	}
}

const counted = module + "/instrument/testdata/counted"

// TestCounted checks that the polls exist in a running program, and that there are no more than
// necessary.
func TestCounted(t *testing.T) {
	file, _ := overlay(t, packages(list(t, "./testdata/counted"), func(l listed) bool {
		return !l.Standard || l.ImportPath == "slices"
	}), Options{Sections: map[string]bool{counted + ".section": true}})
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"plain": {nil, "counted 0 short 0 fib 0 leaf 0 steps 0 crash 91 std false section <nil> 0 0"},
		// One poll is in count, before its call of a function value. 10,000 iterations are ten
		// pieces; 88 calls of fib recurse; every fourth of 111 steps polls.
		"rewritten": {[]string{"-overlay", file}, "counted 11 short 2 fib 89 leaf 1 steps 28 crash 91 std true section left 1 1"},
		"race":      {[]string{"-race", "-overlay", file}, "counted 11 short 2 fib 89 leaf 1 steps 28 crash 91 std true section left 1 1"},
	} {
		t.Run(name, func(t *testing.T) {
			switch name {
			case "race":
				longtest.Skip(t, "it builds the standard library for the race detector")
			case "plain":
				longtest.Skip(t, "it shows only that the counts come from the rewriting")
			}
			// go run keeps the program in the build cache.
			out := run(t, "go", append(append([]string{"run"}, c.args...), "./testdata/counted")...)
			if got := strings.Join(strings.Fields(out), " "); got != c.want {
				t.Errorf("it prints %s\nwant %s", got, c.want)
			}
		})
	}
}
