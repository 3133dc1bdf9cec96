package cocoon

import "time"

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
