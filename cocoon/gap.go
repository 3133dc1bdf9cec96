package cocoon

import (
	"log/slog"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/gaprecord"
)

// Gap is time that tasks ran without a safe point, as measured with Config.Gaps. All gaps in one
// function count as one Gap. A gap begins when the runtime asks a task for a safe point. It does
// not include the code before that, which ran for at most the interval; it does include time taken
// by the kernel or by other goroutines. The JSON form is the form of the files of COCOON_GAPS. Its
// fields:
//
//	Function string        // the function that took the time, as in a stack trace; see below
//	File     string        // the place in the longest gap
//	Line     int
//	Longest  time.Duration // "longest_ns" in JSON
//	Count    int64         // of gaps that lasted for the interval or longer
//	Task     string        // the path of the task of the longest gap
//	Stack    string        // during the longest gap, one function per line
//	End      string        // the safe point that ended the longest gap, as a line of a stack
//
// Function is the call in which there was no safe point or, at the end of a task, the innermost
// function that was in every sample of the stack. It is "" for gaps that ended before a sample. End
// is "" if the gap ended with the task, or with a wait outside of Block.
type Gap = gaprecord.Gap

// gapWatch is how a runtime measures gaps.
type gapWatch struct {
	every  int64 // ns between requests to a task
	record *gaprecord.Record

	// Stacks are taken of all goroutines, by one goroutine at a time, and not again until quiet.
	sampling atomic.Bool
	quiet    atomic.Int64
}

// newGapWatch returns nil if gaps are not measured.
func newGapWatch(cfg *Config, log *logQueue) *gapWatch {
	if cfg.Gaps <= 0 {
		return nil
	}
	file := gaprecord.NewFile(cfg.gapsFolder, func(err error) {
		log.add(slog.LevelWarn, "cocoon: the measured gaps cannot be written", "folder", gapsVariable+"="+cfg.gapsFolder, "error", err)
	})
	return &gapWatch{every: int64(cfg.Gaps), record: gaprecord.New(file)}
}
