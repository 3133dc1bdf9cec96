// Package gaprecord records the gaps that package cocoon measures: it counts them by function, and
// keeps them in a file for cocoon gaps -run.
package gaprecord

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Gap is time that tasks ran without a safe point; see cocoon.Gap.
type Gap struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`

	Longest time.Duration `json:"longest_ns"`
	Count   int64         `json:"count"`

	Task  string `json:"task"`
	Stack string `json:"stack"`
	End   string `json:"end"`
}

// Record holds gaps by their functions. It is safe for concurrent use.
type Record struct {
	file *File

	mu sync.Mutex
	at map[string]Gap // by function
}

// New returns a record without gaps, which is kept in the file, unless that is nil.
func New(file *File) *Record { return &Record{file: file, at: map[string]Gap{}} }

// Add counts a gap, or some gaps in one function. The longest gap of a function gives all but the
// count.
func (r *Record) Add(gap Gap) {
	r.mu.Lock()
	longest := r.at[gap.Function]
	count := longest.Count + gap.Count
	if gap.Longest > longest.Longest {
		longest = gap
	}
	longest.Count = count
	r.at[gap.Function] = longest
	r.mu.Unlock()
	r.file.touch(r.Sorted)
}

// Sorted returns the gaps, the longest first.
func (r *Record) Sorted() []Gap {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Gap, 0, len(r.at))
	for _, gap := range r.at {
		all = append(all, gap)
	}
	slices.SortFunc(all, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(b.Longest, a.Longest), cmp.Compare(a.Function, b.Function))
	})
	return all
}

// Close writes the file for the last time.
func (r *Record) Close() { r.file.write(r.Sorted, true) }
