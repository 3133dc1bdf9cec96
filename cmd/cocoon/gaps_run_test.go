package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/gaprecord"
	"github.com/cocoon-go/cocoon/internal/longtest"
)

// TestGapsFiles: readGaps reads what package cocoon writes, and merges the gaps in one function
// across processes.
func TestGapsFiles(t *testing.T) {
	dir := t.TempDir()
	if _, err := readGaps(dir); err != errNoGaps {
		t.Errorf("an empty folder: %v", err)
	}
	write := func(name string, gaps []gaprecord.Gap) {
		text, err := json.Marshal(gaps)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	long := gaprecord.Gap{Function: "a.F", File: "a.go", Line: 2, Longest: 5 * time.Millisecond, Count: 3, Task: "t", Stack: "x\ny", End: "z"}
	short := gaprecord.Gap{Function: "a.F", Longest: 2 * time.Millisecond, Count: 4}
	other := gaprecord.Gap{Function: "b.G", Longest: 9 * time.Millisecond, Count: 1}
	write("1.json", []gaprecord.Gap{long})
	write("2.json", []gaprecord.Gap{other, short})
	write("3.json", []gaprecord.Gap{})
	got, err := readGaps(dir)
	want := []gaprecord.Gap{
		{Function: "b.G", Longest: 9 * time.Millisecond, Count: 1},
		{Function: "a.F", File: "a.go", Line: 2, Longest: 5 * time.Millisecond, Count: 7, Task: "t", Stack: "x\ny", End: "z"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "4.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readGaps(dir); err == nil || !strings.Contains(err.Error(), "4.json") {
		t.Errorf("a broken file: %v", err)
	}
}

const twoLoops = `package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

func polls(n int) (sum int) {
	for i := range n {
		sum += i / 3
	}
	return sum
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "fail" {
		os.Exit(7)
	}
	x, sum := make([]int, 1<<18), 0
	err := cocoon.Run(context.Background(), "job", func(context.Context) error {
		for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
			sum += polls(1 << 22)
			for i := range x {
				x[i] = i * 7919 % len(x)
			}
			sort.Ints(x)
		}
		return nil
	})
	fmt.Println("sum", sum > 0, err)
	cocoon.Default().Shutdown(context.Background())
}
`

// TestGapsRun: next to a loop that polls, the report names the sorting, which does not.
func TestGapsRun(t *testing.T) {
	longtest.Skip(t, "it builds large programs with safe points")
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	tool := filepath.Join(t.TempDir(), "cocoon")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	main := filepath.Join(t.TempDir(), "main.go")
	empty := filepath.Join(t.TempDir(), "empty.go")
	for file, text := range map[string]string{main: twoLoops, empty: "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args string
		code int
		out  []string // parts of it
		not  string
	}{
		{"-run " + main, 0, []string{"sum true <nil>\n", "longest gap ", "in sort.Ints at ", "task job\n", "main.main.func1"}, "in main.polls"},
		{"-run " + main + " fail", 1, []string{"exit status 7"}, "longest"},
		{"-run " + empty, 2, []string{"no runtime of package cocoon"}, "longest"},
		{"-run ./nosuch", 1, []string{"nosuch"}, "longest"},
	} {
		cmd := exec.CommandContext(t.Context(), tool, append([]string{"gaps"}, strings.Fields(c.args)...)...)
		out, _ := cmd.CombinedOutput()
		for _, want := range c.out {
			if !strings.Contains(string(out), want) {
				t.Errorf("cocoon gaps %s does not print %q:\n%s", c.args, want, out)
			}
		}
		// The longest gaps come first. A loop that polls may follow, because the kernel took its
		// core for another process.
		longest, _, _ := strings.Cut(string(out), "in sort.Ints at ")
		if code := cmd.ProcessState.ExitCode(); code != c.code || strings.Contains(longest, c.not) {
			t.Errorf("cocoon gaps %s: exit code %d, want %d and not %q\n%s", c.args, code, c.code, c.not, out)
		}
	}
	var gaps []gaprecord.Gap
	cmd := exec.CommandContext(t.Context(), tool, "gaps", "-run", "-json", "-n=1", main)
	if out, err := cmd.Output(); err != nil || json.Unmarshal(out, &gaps) != nil || len(gaps) != 1 || gaps[0].Longest < time.Millisecond {
		t.Errorf("-json: %v\n%s", err, out)
	}
}
