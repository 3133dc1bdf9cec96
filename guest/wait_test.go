package guest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

//go:embed testdata/wait.wasm
var waitWasm []byte

// sharedMemory is (module (memory (export "memory") 1 16 shared)).
var sharedMemory = []byte("\x00asm\x01\x00\x00\x00\x05\x04\x01\x03\x01\x10\x07\x0a\x01\x06memory\x02\x00")

const endless = math.MaxUint64 // -1

// sharing returns wazero's runtime with a shared memory.
func sharing(t *testing.T) (wazero.Runtime, api.Memory) {
	t.Helper()
	features := api.CoreFeaturesV2 | experimental.CoreFeaturesThreads
	r := wazero.NewRuntimeWithConfig(background, wazero.NewRuntimeConfig().WithCoreFeatures(features))
	t.Cleanup(func() { r.Close(background) })
	m, err := r.InstantiateWithConfig(background, sharedMemory, wazero.NewModuleConfig().WithName("mem"))
	if err != nil {
		t.Fatal(err)
	}
	return r, m.Memory()
}

// waitingGuest returns the guest that waits in a shared memory.
func waitingGuest(t *testing.T, c Config) (*Module, api.Memory) {
	t.Helper()
	r, memory := sharing(t)
	c.Runtime = r
	m, err := Compile(background, waitWasm, c)
	if err != nil {
		t.Fatal(err)
	}
	return m, memory
}

// asleep waits until n threads wait at the address.
func asleep(t *testing.T, m api.Memory, address uint32, n int) {
	t.Helper()
	soon(t, fmt.Sprintf("%d threads wait", n), func() bool {
		sleepers.Lock()
		defer sleepers.Unlock()
		return len(sleepers.at[word{m, address}]) == n
	})
}

// TestAtomicWait: a guest that waits in shared memory gives its slot and its turn to others. It
// goes on when it is notified or its time is over.
func TestAtomicWait(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		for _, c.Deterministic = range []bool{false, c.Mechanism == Fuel} {
			if c.FuelSlice = 0; c.Deterministic {
				c.FuelSlice = 1000
			}
			m, memory := waitingGuest(t, c)
			in := instance(t, m)
			in.Resume()
			first := in.Spawn(background, "wait32", 0, 0, endless)
			asleep(t, memory, 0, 1)
			second := in.Spawn(background, "wait32", 0, 0, uint64(time.Hour))
			asleep(t, memory, 0, 2)
			other := in.Spawn(background, "wait64", 0, 0, endless)
			asleep(t, memory, 16, 1)
			if got := result(t, in.Spawn(background, "notify", 0, 1)); got != 1 {
				t.Errorf("notify woke %d; want 1", got)
			}
			if got := result(t, first); got != 0 {
				t.Errorf("the notified thread got %d; want 0", got)
			}
			if got := result(t, in.Spawn(background, "notify16", 0, math.MaxUint32)); got != 1 {
				t.Errorf("notify at the offset woke %d; want 1", got)
			}
			if got := result(t, other); got != 0 {
				t.Errorf("the thread at the offset got %d; want 0", got)
			}
			if got := result(t, in.Spawn(background, "wait32", 0, 7, endless)); got != 1 {
				t.Errorf("a wait for another value than the memory's got %d; want 1", got)
			}
			if got := result(t, in.Spawn(background, "wait64", 0, 0, uint64(time.Millisecond))); got != 2 {
				t.Errorf("a wait of a millisecond got %d; want 2", got)
			}
			asleep(t, memory, 0, 1) // second
			if got := result(t, in.Spawn(background, "notify", 0, 9)); got != 1 {
				t.Errorf("notify woke %d; want 1", got)
			}
			if got := result(t, second); got != 0 {
				t.Errorf("the second thread got %d; want 0", got)
			}
		}
	})
}

// TestAtomicWaitEnds: a throw, the end of the context and Shutdown end a wait without end, whether
// other calls of the instance may run meanwhile or not.
func TestAtomicWaitEnds(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		for _, c.Threads = range []bool{false, true} {
			m, memory := waitingGuest(t, c)
			for name, end := range map[string]func(*Instance, *Thread, context.CancelFunc){
				"Cancel":   func(_ *Instance, th *Thread, _ context.CancelFunc) { th.Cancel() },
				"context":  func(_ *Instance, _ *Thread, cancel context.CancelFunc) { cancel() },
				"Shutdown": func(in *Instance, _ *Thread, _ context.CancelFunc) { in.Shutdown(background) },
			} {
				in := instance(t, m)
				ctx, cancel := context.WithCancel(background)
				th := in.Spawn(ctx, "wait32", 0, 0, endless)
				asleep(t, memory, 0, 1)
				if err := rt.Loop().Run(background, "other", func(context.Context) error { return nil }); err != nil {
					t.Error(err)
				}
				end(in, th, cancel)
				if _, err := th.Wait(background); err == nil {
					t.Errorf("after %s the wait ended without an error", name)
				}
				cancel()
				asleep(t, memory, 0, 0)
			}
		}
	})
}

// TestAtomicLock: threads of one instance and of several exclude each other with a lock in shared
// memory, and none is left asleep.
func TestAtomicLock(t *testing.T) {
	const times, threads = 2000, 3
	for _, slots := range []int{1, 2} {
		for _, m := range mechanisms {
			rt := tasktest.Start(t, cocoon.Config{Slots: slots})
			guest, memory := waitingGuest(t, Config{Mechanism: m, Loop: rt.Loop(), Threads: true, Slice: leastSlice})
			one, two := instance(t, guest), instance(t, guest)
			var all []*Thread
			for range threads {
				all = append(all, one.Spawn(background, "locked", times), two.Spawn(background, "locked", times))
			}
			for _, th := range all {
				if _, err := th.Wait(background); err != nil {
					t.Fatal(err)
				}
			}
			if got, _ := memory.ReadUint64Le(8); got != 2*threads*times {
				t.Errorf("%v, %d slots: the threads have counted to %d; want %d", m, slots, got, 2*threads*times)
			}
		}
	}
}

// TestAtomicWaitDeterministic: the order in which notified threads go on depends on the seed only.
func TestAtomicWaitDeterministic(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(4) {
		first := ""
		for range 3 {
			rt := tasktest.Start(t, cocoon.Config{Slots: 2})
			m, memory := waitingGuest(t, Config{Mechanism: Fuel, FuelSlice: 1000, Deterministic: true, Seed: seed, Loop: rt.Loop()})
			in := instance(t, m)
			for id := range uint64(5) {
				in.Spawn(background, "order", id+'a')
			}
			in.Resume()
			asleep(t, memory, 64, 5)
			if got := result(t, in.Spawn(background, "notify", 64, 9)); got != 5 {
				t.Fatalf("notify woke %d; want 5", got)
			}
			soon(t, "the threads end", func() bool { n, _ := memory.ReadUint32Le(96); return n == 5 })
			b, _ := memory.Read(104, 5)
			if got := string(b); first == "" {
				first = got
			} else if got != first {
				t.Errorf("seed %d: the threads went on in the order %q, and before %q", seed, got, first)
			}
		}
		orders[first] = true
	}
	if len(orders) < 2 {
		t.Errorf("all seeds lead to the order %v", orders)
	}
}

// TestNotificationIsPassedOn: if a throw reaches a thread after its notification, another waiting
// thread gets the notification.
func TestNotificationIsPassedOn(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		c.Reusable = []string{"wait32"}
		m, memory := waitingGuest(t, c)
		in := instance(t, m)
		first := in.Spawn(background, "wait32", 0, 0, endless)
		asleep(t, memory, 0, 1)
		second := in.Spawn(background, "wait32", 0, 0, endless)
		asleep(t, memory, 0, 2)
		in.Pause()
		if n := (word{memory, 0}).notify(1); n != 1 {
			t.Fatalf("notify woke %d; want 1", n)
		}
		first.Cancel()
		var p *cocoon.PreemptedError
		if _, err := first.Wait(background); !errors.As(err, &p) {
			t.Fatalf("the first thread ended with %v; want a throw", err)
		}
		in.Resume()
		if got := result(t, second); got != 0 {
			t.Errorf("the second thread got %d; want 0", got)
		}
	})
}

// TestAtomicWaitTraps: waits trap as in plain wazero.
func TestAtomicWaitTraps(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		m, _ := waitingGuest(t, c)
		in := instance(t, m)
		r, _ := sharing(t)
		plain, err := r.Instantiate(background, waitWasm)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			name string
			args []uint64
		}{
			{"wait32", []uint64{2, 0, 0}}, {"wait64", []uint64{4, 0, 0}}, {"notify", []uint64{1, 0}},
			{"wait32", []uint64{65536, 0, 0}}, {"wait64", []uint64{65536 - 16, 0, 0}}, {"notify16", []uint64{65536 - 16, 0}},
			{"wait64", []uint64{math.MaxUint32 - 7, 0, 0}}, {"notify16", []uint64{math.MaxUint32 - 15, 0}},
		} {
			_, want := plain.ExportedFunction(x.name).Call(background, x.args...)
			_, err := in.Call(background, x.name, x.args...)
			if want == nil || err == nil || !strings.Contains(err.Error(), strings.SplitN(want.Error(), "\n", 2)[0]) {
				t.Errorf("%s%d ended with %v; in plain wazero with %v", x.name, x.args, err, want)
			}
		}
	})
}
