package cocoon

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Gap is time that tasks ran without a safe point, as measured with Config.Gaps. All gaps in one
// function count as one Gap. A gap begins when the runtime asks a task for a safe point. It does
// not include the code before that, which ran for at most the interval; it does include time taken
// by the kernel or by other goroutines. The JSON form is the form of the files of COCOON_GAPS.
type Gap struct {
	// The function that took the time, as in a stack trace: the call in which there was no safe
	// point or, at the end of a task, the innermost function that was in every sample of the stack.
	// "" for gaps that ended before a sample. The place is the place in the longest gap.
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`

	Longest time.Duration `json:"longest_ns"`
	Count   int64         `json:"count"` // of gaps that lasted for the interval or longer

	Task  string `json:"task"`  // path of the task of the longest gap
	Stack string `json:"stack"` // during the longest gap, one function per line
	// the safe point that ended the longest gap, as a line of a stack; "" if the gap ended with the
	// task, or with a wait outside of Block
	End string `json:"end"`
}

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
	g.file.touch(g)
}

// Gaps returns the gaps measured so far, the longest first. It returns nil if Config.Gaps is off.
func (rt *Runtime) Gaps() []Gap {
	if rt.gaps == nil {
		return nil
	}
	return rt.gaps.sorted()
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
