package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// TestThrowsOutOfEngines builds testdata/throws with safe points in its engines, and runs it: each
// throw arrives, runs the defers, and leaves the engine usable. Without safe points no throw
// arrives.
func TestThrowsOutOfEngines(t *testing.T) {
	longtest.Skip(t, "it builds large programs with safe points")
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	program := filepath.Join(t.TempDir(), "cocoon")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("building cocoon: %v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), program, "run", "-cocoon.keep=main.count", "-cocoon.pkgs=all,bytes,compress/flate,encoding/json,text/template,sort,slices,io,net,debug/gosym", "./testdata/throws")
	run.Stderr = os.Stderr
	out, err := run.Output()
	if err != nil {
		t.Error(err)
	}
	const want = "SafePoint\ndeferred literal\ndeferred variable\nend\nin a loop\niterator\nliteral\nliteral with a call behind it\nnamed result\none line\n" +
		"out of an iterator's loop\nresult on heap\nreturn\nreturn a call\ntype parameter\none line that does not return\n" +
		"regexp2\nsort.Slice\nslices.SortFunc\njson.Marshaler\njson.Marshal\ntext/template function\ntext/template\nbytes.Buffer\nsync.Mutex\nsync.RWMutex\na machine's lock\nsync.WaitGroup\nsync.WaitGroup without defer\ndatabase/sql\nsingleflight\ncompress/flate\ncompress/flate, closed\nsync.Map\n-cocoon.keep\nsemaphore\nlock of another function\nfailures\nacquisition\nstored acquisitions\nrelease without defer\nrelease without defer that never comes\niter.Pull\niter.Pull2\nrecover\n" +
		"fmt\nslog.LogValuer\nslog.JSONHandler\nflag\ndebug/gosym\nio.Pipe\nnet.Pipe\n"
	if !bytes.Equal(out, []byte(want)) {
		t.Errorf("it printed %q; want %q", out, want)
	}
}
