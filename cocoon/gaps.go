package cocoon

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// gapRecord holds the gaps of a runtime.
type gapRecord struct {
	every int64 // ns between requests to a task
	file  *gapFile

	mu sync.Mutex
	at map[string]*Gap // by function

	// Stacks are taken of all goroutines, by one goroutine at a time, and not again until quiet.
	sampling atomic.Bool
	quiet    atomic.Int64
}

// newGapRecord returns nil if gaps are not measured.
func newGapRecord(every time.Duration, file *gapFile) *gapRecord {
	if every <= 0 {
		return nil
	}
	return &gapRecord{every: int64(every), file: file, at: map[string]*Gap{}}
}

// add counts a gap.
func (g *gapRecord) add(gap Gap) {
	g.mu.Lock()
	known := g.at[gap.Function]
	if known == nil {
		known = new(Gap)
		g.at[gap.Function] = known
	}
	count := known.Count + 1
	if gap.Longest > known.Longest {
		*known = gap
	}
	known.Count = count
	g.mu.Unlock()
	g.file.touch(g.sorted)
}

func (g *gapRecord) sorted() []Gap {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]Gap, 0, len(g.at))
	for _, gap := range g.at {
		all = append(all, *gap)
	}
	slices.SortFunc(all, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(b.Longest, a.Longest), cmp.Compare(a.Function, b.Function))
	})
	return all
}
