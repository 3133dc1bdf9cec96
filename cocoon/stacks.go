package cocoon

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"

	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/notify"
)

// taskStack is the stack of a goroutine that was running a task when the stacks were taken.
type taskStack struct {
	frames []runtime.Frame // from the innermost up to, and without, the start of the innermost task
	tasks  []marked        // its tasks, the innermost first; empty if the stack was too deep
	waits  bool            // its goroutine waits
	inside bool            // it was waiting for a slot, or inside Block, where it holds none
}

// takeStacks returns the stacks of all goroutines that run tasks. It takes 3 to 10 ms of one core
// for each thousand goroutines of the process.
//
// The world is stopped twice, at the beginning and at the end, only for as long as its threads need
// to stop: since Go 1.19 a goroutine profile is taken while the goroutines run. A goroutine that
// was running is recorded at its place at the first stop, before it goes on. The alternatives are
// worse. runtime.Stack with all goroutines, which would also give the functions' arguments, formats
// while the world is stopped: for more than a second with 100,000 goroutines.
// runtime.GoroutineProfile has no labels and at most 32 functions of each stack, where this has
// 128: too few to find the tasks.
//
// began is when it began to stop the world. All stacks are later.
func (rt *Runtime) takeStacks() (found []taskStack, began int64) {
	if runtime.NumGoroutine() > longProfile && !rt.cfg.KeepProcs {
		defer kernel.SpareProc()()
	}
	began = notify.Now()
	var r stackReader
	pprof.Lookup("goroutine").WriteTo(&r, 1) // its errors are the errors of r, which has none
	return r.found, began
}

// longProfile is the number of goroutines above which a profile takes longer than Go lets a
// goroutine run.
const longProfile = 2000

// stackReader extracts the tasks' stacks from the text of a profile while it is written. A line
// with a number, an @ and addresses begins the part about the goroutines with one stack. The lines
// with names that follow are for people.
type stackReader struct {
	line  []byte // the beginning of an unfinished line
	found []taskStack
	marks map[uintptr]int // by address: its digit, or noMark
	pcs   []uintptr
}

const noMark = -1

func (r *stackReader) Write(text []byte) (int, error) {
	n := len(text)
	for {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			r.line = append(r.line, text...)
			return n, nil
		}
		r.line = append(r.line, text[:end]...)
		r.read(string(r.line))
		r.line, text = r.line[:0], text[end+1:]
	}
}

func (r *stackReader) read(line string) {
	count, addresses, found := strings.Cut(line, " @ ")
	if _, err := strconv.Atoi(count); !found || err != nil {
		return
	}
	r.pcs = r.pcs[:0]
	of := false
	for field := range strings.FieldsSeq(addresses) {
		pc, err := strconv.ParseUint(field, 0, 64)
		if err != nil {
			return
		}
		r.pcs = append(r.pcs, uintptr(pc))
		of = of || r.mark(uintptr(pc)) != noMark
	}
	// A stack cut off at the maximum depth lacks its outermost functions.
	if of || len(r.pcs) > 0 && !ofRuntime(nameOf(r.pcs[len(r.pcs)-1])) {
		r.found = append(r.found, r.stack())
	}
}

// mark returns the digit that the function at a return address marks, or noMark.
func (r *stackReader) mark(pc uintptr) int {
	digit, known := r.marks[pc]
	if !known {
		digit = noMark
		if f := runtime.FuncForPC(pc - 1); f != nil {
			if d, ok := markOf()[f.Entry()]; ok {
				digit = int(d)
			}
		}
		if r.marks == nil {
			r.marks = map[uintptr]int{}
		}
		r.marks[pc] = digit
	}
	return digit
}

func nameOf(pc uintptr) string {
	if f := runtime.FuncForPC(pc - 1); f != nil {
		return f.Name()
	}
	return ""
}

// stack decodes the stack in r.pcs.
func (r *stackReader) stack() (t taskStack) {
	frames := runtime.CallersFrames(r.pcs)
	var m marked
	for more, first := true, true; more; first = false {
		var f runtime.Frame
		f, more = frames.Next()
		switch digit := noMark; {
		case first && f.Function == goPark:
			t.waits = true
		case isMark(f.Function):
			if digit = r.mark(f.PC + 1); digit != noMark {
				m = marked{m.number<<4 | uint32(digit), m.digits + 1}
			}
		case f.Function == taskBegins:
			t.tasks = append(t.tasks, m)
			m = marked{}
		}
		if len(t.tasks) == 0 && m.digits == 0 && !isMark(f.Function) && !isPreemption(f.Function) {
			t.frames = append(t.frames, f)
			t.inside = t.inside || t.waits && strings.HasPrefix(f.Function, ownPackage) && ours(f.Function)
		}
	}
	return t
}

// stacksOf returns the stacks that may be the strand's. There is only one, unless several tasks
// have its marks, or its stack is too deep.
func stacksOf(all []taskStack, s *strand) (found []taskStack) {
	best := 0
	for _, t := range all {
		fits := t.fits(s)
		if fits > best {
			best, found = fits, nil
		}
		if fits > 0 && fits == best {
			found = append(found, t)
		}
	}
	return found
}

// fits says how likely the stack is the strand's. 0 means no match. Running goroutines rank above
// waiting ones, and goroutines with known marks above goroutines with marks too deep to see.
func (t *taskStack) fits(s *strand) (likely int) {
	switch {
	case t.inside:
		return 0
	case slices.ContainsFunc(t.tasks, func(m marked) bool { return m.is(s) }):
		likely = 2
	case len(t.tasks) == 0:
		likely = 1
	default:
		return 0
	}
	if !t.waits {
		likely += 2
	}
	return likely
}

// traceOf formats a stack like Go's own traces: a function, and its place on the next line.
func traceOf(stack []runtime.Frame) string {
	var b strings.Builder
	for _, f := range stack {
		fmt.Fprintf(&b, "%s(...)\n\t%s:%d\n", f.Function, f.File, f.Line)
	}
	return b.String()
}

// ownStack returns the task's own frames among the frames of its goroutine, beginning where the
// task came back. It returns none at the task's end.
func ownStack(pcs []uintptr) (stack []runtime.Frame) {
	frames := runtime.CallersFrames(pcs)
	for more := len(pcs) > 0; more; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function == taskBegins || isMark(f.Function) {
			break
		}
		// If a throw ended the stall, report the throw's safe point.
		if len(stack) > 0 || !ours(f.Function) && f.Function != goPanic {
			stack = append(stack, f)
		}
	}
	return stack
}
