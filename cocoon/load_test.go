package cocoon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file is loaded like its text; an error says which file.
func TestLoadPolicyFile(t *testing.T) {
	rt := start(t, Config{})
	name := filepath.Join(t.TempDir(), "policies.yaml")
	write := func(text string) { must(t, os.WriteFile(name, []byte(text), 0o600)) }
	write("version: 1\nstates: {x: 7}\n")
	must(t, rt.LoadPolicyFile(name))
	if got := rt.State("x"); got != int64(7) {
		t.Errorf("x is %v", got)
	}
	write("version: 2\n")
	if err := rt.LoadPolicyFile(name); err == nil || !strings.HasPrefix(err.Error(), name+":1:10: version 2 is not known") {
		t.Errorf("got %v", err)
	}
	write("version: 1\npolicies:\n  - {name: a, on: start, expr: cancel()}\n  - name: p\n    on: enqueue\n    expr: |\n      queue.length > 1\n      ? trow(1) : continue()\n")
	if err := rt.LoadPolicyFile(name); err == nil || !strings.HasPrefix(err.Error(), name+`:8:9: policy "p": there is no function trow`) {
		t.Errorf("got %v", err)
	}
	if err := rt.LoadPolicyFile(name + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
