package notify

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// to returns a subscription.
func to[T comparable](events uint16, listener T) Subscription[T] {
	return Subscription[T]{listener, events}
}

func TestHub(t *testing.T) {
	const a, b, c = 1 << 0, 1 << 3, 1 << 15
	var h Hub[string]
	for _, step := range []struct {
		name    string
		out     []string
		in      []Subscription[string]
		a, b, c string // the listeners of each event afterwards
	}{
		{"nobody", nil, nil, "", "", ""},
		{"a stranger leaves", []string{"x"}, nil, "", "", ""},
		{"x to two", nil, []Subscription[string]{to(a|c, "x")}, "x", "", "x"},
		{"y to all", nil, []Subscription[string]{to(a|b|c, "y")}, "x y", "y", "x y"},
		{"x to others", []string{"x"}, []Subscription[string]{to(a|b, "x")}, "x y", "x y", "y"},
		{"z, and a stranger leaves", []string{"w"}, []Subscription[string]{to(c, "z")}, "x y", "x y", "y z"},
		{"y for v and w", []string{"y"}, []Subscription[string]{to(c, "w"), to(a|c, "v")}, "x v", "x", "w v z"},
		{"all, in another order", []string{"x", "z", "v", "w"}, []Subscription[string]{to(c, "v"), to(c, "z"), to(a|b|c, "x")}, "x", "x", "v z x"},
		{"all leave", []string{"z", "x", "v", "z"}, nil, "", "", ""},
	} {
		h.Replace(step.out, step.in)
		for event, want := range map[uint16]string{a: step.a, b: step.b, c: step.c, 1 << 7: ""} {
			if got := strings.Join(h.Listeners(event), " "); got != want {
				t.Fatalf("%s: event %#x has the listeners %q, want %q", step.name, event, got, want)
			}
		}
	}
}

func TestHubRefuses(t *testing.T) {
	var h Hub[int]
	h.Replace(nil, []Subscription[int]{to(2, 7)})
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"subscribe to nothing", func() { h.Replace([]int{7}, []Subscription[int]{to(1, 1), to(0, 2)}) }, "a subscription to no event"},
		{"subscribe again", func() { h.Replace(nil, []Subscription[int]{to(1, 1), to(1, 7)}) }, "would be subscribed twice"},
		{"subscribe two at once", func() { h.Replace([]int{7}, []Subscription[int]{to(1, 1), to(1, 1)}) }, "would be subscribed twice"},
		{"listeners of nothing", func() { h.Listeners(0) }, "Listeners of a set of events"},
		{"listeners of two events", func() { h.Listeners(3) }, "Listeners of a set of events"},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if v, _ := recover().(string); !strings.Contains(v, c.want) {
					t.Fatalf("panicked with %q, want %q", v, c.want)
				}
				if one, two := h.Listeners(1), h.Listeners(2); len(one) != 0 || !slices.Equal(two, []int{7}) {
					t.Errorf("half done: %v and %v listen", one, two)
				}
			}()
			c.do()
		})
	}
}

func TestListenersDoNotChangeUnderTheReader(t *testing.T) {
	var h Hub[int]
	for v := range 5 {
		h.Replace(nil, []Subscription[int]{to(1, v)})
	}
	before := h.Listeners(1)
	_ = append(before, 99)
	h.Replace([]int{0}, []Subscription[int]{to(1, 5)})
	if !slices.Equal(before, []int{0, 1, 2, 3, 4}) {
		t.Fatalf("the slice read before changed to %v", before)
	}
	if after := h.Listeners(1); !slices.Equal(after, []int{5, 1, 2, 3, 4}) {
		t.Fatalf("listeners %v, want 5 in the place of 0", after)
	}
}

// TestHubUnderConcurrentChange checks that readers see only whole exchanges: each changer always
// has one listener, and never two.
func TestHubUnderConcurrentChange(t *testing.T) {
	var h Hub[int]
	const changers = 4
	for id := range changers {
		h.Replace(nil, []Subscription[int]{to(1|2, id)})
	}
	var changing, reading sync.WaitGroup
	stop := make(chan struct{})
	for id := range changers {
		changing.Go(func() {
			for i := range 500 {
				h.Replace([]int{id + changers*i}, []Subscription[int]{to(1|2, id+changers*(i+1))})
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
				seen := [changers]int{}
				for _, v := range h.Listeners(1) {
					seen[v%changers]++
				}
				if seen != [changers]int{1, 1, 1, 1} {
					t.Errorf("of each changer there are so many listeners: %v", seen)
					return
				}
			}
		})
	}
	changing.Wait()
	close(stop)
	reading.Wait()
	l := slices.Sorted(slices.Values(h.Listeners(2)))
	if !slices.Equal(l, []int{2000, 2001, 2002, 2003}) {
		t.Fatalf("in the end the listeners are %v", l)
	}
}

func BenchmarkListeners(b *testing.B) {
	var h Hub[*int]
	h.Replace(nil, []Subscription[*int]{to(2, new(int))})
	n := 0
	b.ReportAllocs()
	for range b.N {
		n += len(h.Listeners(2))
	}
	if n != b.N {
		b.Fatal("a listener was lost")
	}
}
