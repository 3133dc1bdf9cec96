package cocoon

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Gap is time that tasks ran without a safe point, as Config.Gaps has it measured; those in one
// function are one Gap. It begins when a task is asked for a safe point, so the code before that,
// at most as much as the interval, is not included; what the kernel or other goroutines took of it
// is. The JSON form is that of the files of COCOON_GAPS.
type Gap struct {
	// The function that took the time, as in a stack trace: the call in which there was no safe
	// point; at the end of a task, the innermost that was there whenever the stack was taken. ""
	// for gaps that were over before. The place is that of the longest.
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`

	Longest time.Duration `json:"longest_ns"`
	Count   int64         `json:"count"` // of those that lasted for the interval or longer

	Task  string `json:"task"`  // path of the task, of the longest
	Stack string `json:"stack"` // in the midst of the longest, a line a function
	End   string `json:"end"`   // the safe point that ended the longest, as a line of a stack; "" if it was the task's end, or a wait outside of Block
}

// gapRecord holds the gaps of a runtime.
type gapRecord struct {
	every int64 // ns between questions to a task
	file  *gapFile

	mu sync.Mutex
	at map[string]*Gap // by function

	// Stacks are taken of all goroutines: by one at a time, and not again until quiet.
	sampling atomic.Bool
	quiet    atomic.Int64
}

// newGapRecord returns nil when nothing is to be measured.
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

// Gaps returns the gaps measured so far, the longest first; nil if Config.Gaps is off.
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
