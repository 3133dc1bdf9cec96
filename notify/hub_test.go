package notify

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestHub(t *testing.T) {
	const a, b, c = 1 << 0, 1 << 3, 1 << 15
	var h Hub[string]
	for _, step := range []struct {
		name    string
		do      func()
		a, b, c string // who listens to each, afterwards
	}{
		{"nobody", func() {}, "", "", ""},
		{"nobody leaves", func() {
			if h.Unsubscribe("x") {
				t.Error("Unsubscribe of a stranger reports a subscription")
			}
		}, "", "", ""},
		{"x to two", func() { h.Subscribe(a|c, "x") }, "x", "", "x"},
		{"y to all", func() { h.Subscribe(a|b|c, "y") }, "x y", "y", "x y"},
		{"x again, to others; it keeps its place", func() { h.Subscribe(a|b, "x") }, "x y", "x y", "y"},
		{"z", func() { h.Subscribe(c, "z") }, "x y", "x y", "y z"},
		{"y leaves", func() {
			if !h.Unsubscribe("y") {
				t.Error("Unsubscribe of a listener reports none")
			}
		}, "x", "x", "z"},
		{"x and z leave", func() { h.Unsubscribe("z"); h.Unsubscribe("x") }, "", "", ""},
	} {
		step.do()
		for event, want := range map[uint16]string{a: step.a, b: step.b, c: step.c, 1 << 7: ""} {
			if got := strings.Join(h.Listeners(event), " "); got != want {
				t.Fatalf("%s: event %#x has the listeners %q, want %q", step.name, event, got, want)
			}
		}
	}
}

func TestHubRefuses(t *testing.T) {
	var h Hub[int]
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"subscribe to nothing", func() { h.Subscribe(0, 1) }, "Subscribe to no event"},
		{"listeners of nothing", func() { h.Listeners(0) }, "Listeners of a set of events"},
		{"listeners of two events", func() { h.Listeners(3) }, "Listeners of a set of events"},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if v, _ := recover().(string); !strings.Contains(v, c.want) {
					t.Fatalf("panicked with %q, want %q", v, c.want)
				}
			}()
			c.do()
		})
	}
}

func TestListenersDoNotChangeUnderTheReader(t *testing.T) {
	var h Hub[int]
	for v := range 5 {
		h.Subscribe(1, v)
	}
	before := h.Listeners(1)
	_ = append(before, 99)
	h.Unsubscribe(0)
	h.Subscribe(1, 5)
	if !slices.Equal(before, []int{0, 1, 2, 3, 4}) {
		t.Fatalf("the slice read before changed to %v", before)
	}
	if after := h.Listeners(1); !slices.Equal(after, []int{1, 2, 3, 4, 5}) {
		t.Fatalf("listeners %v, want 1 to 5", after)
	}
}

// Readers see whole states only: here both events always have the same listeners, in pairs.
func TestHubUnderConcurrentChange(t *testing.T) {
	var h Hub[int]
	h.Subscribe(1|2, -1)
	var changing, reading sync.WaitGroup
	stop := make(chan struct{})
	for id := range 4 {
		changing.Go(func() {
			for range 500 {
				h.Subscribe(1|2, id)
				if !h.Unsubscribe(id) {
					t.Errorf("the subscription of %d was lost", id)
				}
			}
		})
	}
	for range 2 {
		reading.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				l := h.Listeners(1)
				if len(l) == 0 || l[0] != -1 || len(l) > 5 {
					t.Errorf("read the listeners %v", l)
					return
				}
			}
		})
	}
	changing.Wait()
	close(stop)
	reading.Wait()
	if l := h.Listeners(2); !slices.Equal(l, []int{-1}) {
		t.Fatalf("in the end the listeners are %v", l)
	}
}

func BenchmarkListeners(b *testing.B) {
	var h Hub[*int]
	h.Subscribe(2, new(int))
	n := 0
	b.ReportAllocs()
	for range b.N {
		n += len(h.Listeners(2))
	}
	if n != b.N {
		b.Fatal("a listener was lost")
	}
}
