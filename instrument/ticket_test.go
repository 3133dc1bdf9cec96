package instrument

import (
	"strings"
	"testing"
)

const ticketing = `package p

import "sync/atomic"

type histogram struct {
	hot    atomic.Uint64
	old    uint64
	ids    atomic.Int64
	total  atomic.Int64
	counts [2]*counts
	slots  [8]slot
}

type counts struct {
	sum   uint64
	count atomic.Uint64
}

type slot struct {
	value any
	turn  atomic.Uint64
}

var work func() any

func (c *counts) observe(v uint64) {
	for {
		was := atomic.LoadUint64(&c.sum)
		if atomic.CompareAndSwapUint64(&c.sum, was, was+v) {
			break
		}
		work()
	}
	work()
	c.count.Add(1)
}

func (h *histogram) observe(v uint64) {
	work()
	n := h.hot.Add(1)
	hot := h.counts[n>>63] // kept
	work()                 // kept
	hot.observe(v)         // kept
	work()
}

func (h *histogram) observeOld(v uint64) {
	work()
	n := atomic.AddUint64(&h.old, 1)
	h.counts[n>>63].observe(v) // kept
	work()
}

func (h *histogram) push(v any) {
	at := h.hot.Add(1) - 1
	s := &h.slots[at%8] // kept
	s.value = work()    // kept
	s.turn.Store(at)    // kept
	work()
}

func (h *histogram) tryPush(v any) bool {
	for {
		work()
		at := h.hot.Load()
		s := &h.slots[at%8]
		if s.turn.Load() != at {
			return false
		}
		if h.hot.CompareAndSwap(at, at+1) {
			s.value = work()     // kept
			s.turn.Store(at + 1) // kept
			return true
		}
	}
}

func (h *histogram) statistics() {
	h.ids.Add(1)
	work()
	h.total.Add(1)
}

func (h *histogram) numbered() any {
	id := h.ids.Add(1)
	r := work()
	h.total.Add(id)
	return r
}

func (h *histogram) plain(out []any) {
	for {
		i := h.ids.Add(1) - 1
		if i >= int64(len(out)) {
			return
		}
		out[i] = work()
	}
}
`

// TestTickets checks that nothing is thrown between an atomic operation and the atomic operation
// that completes what its result stands for.
func TestTickets(t *testing.T) {
	r := decidedText(t, ticketing)
	kept := map[int]bool{}
	for _, c := range r.codes {
		for _, k := range c.kept {
			if k.why(r) == "" {
				t.Error("no reason")
			}
			for _, s := range k.spans {
				for _, at := range r.linesOf(s) {
					kept[at.line] = true
				}
			}
		}
	}
	for i, line := range strings.Split(ticketing, "\n") {
		if want := strings.Contains(line, "// kept"); kept[i+1] != want {
			t.Errorf("line %d, kept %v: %s", i+1, kept[i+1], line)
		}
	}
}
