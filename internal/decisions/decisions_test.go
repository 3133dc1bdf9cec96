package decisions

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// model is a log that is too slow to be wrong.
type model struct {
	keep    int
	entries []modelEntry // all of them
}

type modelEntry struct{ sort, value int } // sort -1: not kept at all

// kept reports whether the entry with the index i is still in its ring.
func (m *model) kept(i int) bool {
	if m.entries[i].sort < 0 {
		return false
	}
	later := 0
	for _, e := range m.entries[i+1:] {
		if e.sort == m.entries[i].sort {
			later++
		}
	}
	return later < m.keep
}

// reader is a reader of the model and the cursor that must agree with it.
type reader struct {
	*Cursor[int]
	at   int // index of the next entry
	lost uint64
}

func (r *reader) check(t *testing.T, m *model) {
	t.Helper()
	for r.at < len(m.entries) && !m.kept(r.at) {
		r.at, r.lost = r.at+1, r.lost+1
	}
	value, number, ok := r.Next()
	if ok != (r.at < len(m.entries)) {
		t.Fatalf("Next says %v with %d of %d entries read", ok, r.at, len(m.entries))
	}
	if !ok {
		if r.Lost() != r.lost {
			t.Fatalf("at the end %d are lost; want %d", r.Lost(), r.lost)
		}
		return
	}
	if want := m.entries[r.at].value; value != want || number != uint64(r.at+1) || r.Lost() != r.lost {
		t.Fatalf("entry %d is %d and %d are lost; want entry %d, %d, and %d lost", number, value, r.Lost(), r.at+1, want, r.lost)
	}
	r.at++
}

// Any order of additions and reads gives each reader what a plain list would give it, and the exact
// number of the entries that it missed.
func TestExplore(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		sorts := 1 + random.IntN(3)
		m := &model{keep: 1 + random.IntN(5)}
		l := New[int](sorts, m.keep)
		readers := []*reader{{Cursor: l.From(0)}}
		for range 300 {
			switch n := random.IntN(20); {
			case n == 0 && len(readers) < 6:
				after := random.IntN(len(m.entries) + 3)
				readers = append(readers, &reader{Cursor: l.From(uint64(after)), at: min(after, len(m.entries))})
			case n == 1:
				m.entries = append(m.entries, modelEntry{-1, 0})
				l.Skip()
			case n < 10:
				e := modelEntry{random.IntN(sorts), random.Int()}
				m.entries = append(m.entries, e)
				if number := l.Add(e.sort, e.value); number != uint64(len(m.entries)) {
					t.Fatalf("entry %d has the number %d", len(m.entries), number)
				}
			default:
				readers[random.IntN(len(readers))].check(t, m)
			}
		}
		for _, r := range readers {
			for r.at < len(m.entries) {
				r.check(t, m)
			}
			r.check(t, m)
		}
	}
}

// While entries are added, each reader gets the entries in order, each as it was added, and what it
// got and what it lost is all there was.
func TestReadersHammer(t *testing.T) {
	const entries, sorts = 100_000, 3
	type pair struct{ sort, twice uint64 }
	l := New[pair](sorts, 64)
	var wg sync.WaitGroup
	for slow := range 4 {
		wg.Go(func() {
			c := l.From(0)
			got := uint64(0)
			for last := uint64(0); last < entries; {
				p, number, ok := c.Next()
				if !ok {
					runtime.Gosched()
					continue
				}
				if number <= last || p.twice != 2*number || p.sort != number%sorts {
					t.Errorf("entry %d, after %d, is %v", number, last, p)
					return
				}
				last = number
				if got++; got+c.Lost() != number {
					t.Errorf("at entry %d: %d read and %d lost", number, got, c.Lost())
					return
				}
				for range slow {
					runtime.Gosched()
				}
			}
		})
	}
	for n := uint64(1); n <= entries; n++ {
		if l.Add(int(n%sorts), pair{n % sorts, 2 * n}); n%32 == 0 {
			runtime.Gosched()
		}
	}
	wg.Wait()
}

// A flood of one sort leaves the entries of another where they are.
func TestSortsAreApart(t *testing.T) {
	l := New[string](2, 4)
	l.Add(0, "rare")
	for range 1000 {
		l.Add(1, "frequent")
	}
	c := l.From(0)
	var got []string
	for v, _, ok := c.Next(); ok; v, _, ok = c.Next() {
		got = append(got, v)
	}
	if want := []string{"rare", "frequent", "frequent", "frequent", "frequent"}; !slices.Equal(got, want) || c.Lost() != 996 {
		t.Errorf("got %v, and %d are lost", got, c.Lost())
	}
}
