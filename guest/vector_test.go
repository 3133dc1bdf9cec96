package guest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/tetratelabs/wazero"
)

// vectors is
//
//	(func (export "sum") (param $v v128) (param $step v128) (param $n i32) (result v128 i32)
//	  (loop
//	    (local.set $v (i64x2.add (local.get $v) (local.get $step)))
//	    (br_if 0 (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
//	  (local.get $v) (local.get $n))
var vectors = []byte("\x00asm\x01\x00\x00\x00\x01\x09\x01\x60\x03\x7b\x7b\x7f\x02\x7b\x7f\x03\x02\x01\x00\x07\x07\x01\x03sum\x00\x00" +
	"\x0a\x1d\x01\x1b\x00\x03\x40\x20\x00\x20\x01\xfd\xce\x01\x21\x00\x20\x02\x41\x01\x6b\x22\x02\x0d\x00\x0b\x20\x00\x20\x02\x0b")

// A vector takes two of the values of a call and of its results. Threads that are suspended half-way
// keep theirs.
func TestVectors(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		c.Runtime, c.Threads, c.Slice = wazero.NewRuntime(background), true, 50*time.Microsecond
		t.Cleanup(func() { c.Runtime.Close(background) })
		m, err := Compile(background, vectors, c)
		if err != nil {
			t.Fatal(err)
		}
		in := instance(t, m)
		const n = 3_000_000
		in.Pause()
		var all []*Thread
		for id := range uint64(3) {
			all = append(all, in.Spawn(background, "sum", id, 1<<40, 1, id, n))
		}
		soon(t, "all wait", func() bool {
			in.mu.Lock()
			defer in.mu.Unlock()
			return len(in.turns.waiting) == len(all)
		})
		in.Resume()
		select { // by then each has had a turn
		case <-all[0].Done():
		case <-all[1].Done():
		case <-all[2].Done():
		}
		for id, th := range all {
			if th.Account().Running == 0 {
				t.Errorf("thread %d has had no turn when the first one ended", id)
			}
		}
		for id, th := range all {
			got, err := th.Wait(background)
			if id := uint64(id); err != nil || !slices.Equal(got, []uint64{id + n, 1<<40 + n*id, 0}) {
				t.Errorf("thread %d: %d, %v", id, got, err)
			}
		}
		if got, err := in.Call(background, "sum", 5, 7, 1, 1, 2); err != nil || !slices.Equal(got, []uint64{7, 9, 0}) {
			t.Errorf("%d, %v", got, err)
		}
		if _, err := in.Call(background, "sum", 5, 1, 2); err == nil {
			t.Error("a call with half the values of its vectors succeeded")
		}
		stack := []uint64{5, 7, 1, 1, 2}
		err = in.Batch(background, "sum", func(_ context.Context, call func([]uint64) error) error { return call(stack) })
		if err != nil || !slices.Equal(stack[:3], []uint64{7, 9, 0}) {
			t.Errorf("in a batch: %d, %v", stack, err)
		}
	})
}
