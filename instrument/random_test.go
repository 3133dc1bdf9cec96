package instrument

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

var (
	programs  = flag.Int("programs", 0, "random programs to compare; make programs takes many; 0: one in the long form")
	firstSeed = flag.Uint64("seed", 1, "of the first random program")
)

// raiseText is an uninstrumented package. It refers to the word and the slow path as rewritten
// packages do, and so counts the polls.
const raiseText = `package raise

import _ "unsafe"

//go:linkname word github.com/cocoon-go/cocoon/safepoint.word
var word struct {
	_        [128]byte
	requests uint32
	_        [128]byte
}

//go:linkname answer github.com/cocoon-go/cocoon/safepoint.answerLink
var answer func()

var Polls int

func Raise() {
	answer = func() { Polls++ }
	word.requests = 1
}
`

// TestRandomPrograms checks that random programs behave the same when rewritten, whether or not the
// word is set, and that they poll. They have loops of each form over each integer type, nested in
// each other, with every statement that may leave a loop.
func TestRandomPrograms(t *testing.T) {
	if *programs == 0 {
		longtest.Skip(t, "it builds programs")
		*programs = 1
	}
	for seed := *firstSeed; seed < *firstSeed+uint64(*programs); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { compareRandom(t, seed) })
	}
}

func compareRandom(t *testing.T, seed uint64) {
	dir := t.TempDir()
	program := randomProgram(seed)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("go.mod", "module random\n\ngo "+program.language+".0\n")
	write("raise/raise.go", raiseText)
	main := write("main.go", program.text)
	bin := filepath.Join(dir, "random")
	run(t, "go", "build", "-C", dir, "-o", bin, ".")
	want := within(t, bin)

	var exports []listed
	for _, l := range listIn(t, dir, ".") {
		if l.Name != "main" {
			exports = append(exports, l)
		}
	}
	p := Package{Path: "main", Files: []string{main}, GoVersion: "go" + program.language, Exports: map[string]string{}}
	for _, l := range exports {
		p.Exports[l.ImportPath] = l.Export
	}
	res, err := Rewrite(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Mistaken {
		t.Error("the rewriting finds mistakes in the program")
	}
	for path, text := range res.Files {
		write(filepath.Base(path), string(text))
	}
	run(t, "go", "build", "-C", dir, "-o", bin, ".")
	sameLines(t, within(t, bin), want)
	raised := within(t, bin, "raise")
	end := strings.LastIndex(raised, "polls ")
	sameLines(t, raised[:end], want)
	if strings.HasSuffix(raised, "polls 0\n") {
		t.Error("it never polls")
	}
	t.Logf("%d lines of output; %d functions, %d loops, %d in pieces, %s", strings.Count(want, "\n"), res.Stats.Functions, res.Stats.Loops, res.Stats.Strips, raised[end:])
	if t.Failed() {
		kept := filepath.Join(os.TempDir(), fmt.Sprintf("random%d.go", seed))
		_ = os.WriteFile(kept, []byte(program.text), 0o600)
		t.Logf("the program is in %s", kept)
	}
}

// within runs a program that takes less than a second on a quiet machine.
func within(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%.1000s", name, args, err, out)
	}
	return string(out)
}
