package guest

import (
	"os"
	"runtime"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestSmallInstance: an instance of a guest without memory and WASI takes a few KB.
func TestSmallInstance(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	wasm, err := os.ReadFile("testdata/fib.wasm")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Compile(background, wasm, Config{Loop: rt.Loop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close(background) })
	const n = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		in, err := m.Instantiate(background, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := in.Shutdown(background); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / n
	t.Logf("%d bytes for an instance", each)
	if each > 6<<10 {
		t.Errorf("an instance takes %d bytes; want at most 6 KB", each)
	}
}
