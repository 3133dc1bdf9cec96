package isolate

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// Evaluator is one instance of a policy. To evaluate, fill Snapshot and call Eval, any number of
// times. Only one goroutine at a time may use it, because its memory and its stack hold one
// evaluation; only Close may be called at any time.
type Evaluator struct {
	instance api.Module
	function api.Function // holds a stack: sharing it would silently give wrong results
	result   [1]uint64    // the result of function
	snapshot []uint64     // view of the instance's memory, which never grows and so never moves
	fired    *uint64      // a view too; nil without sites
	values   []uint64
	retry    *uint64 // nil where no throw says when to retry
}

// newEvaluator prepares an instance, and puts the constants into its memory.
func newEvaluator(p *ir.Program, constants pool, instance api.Module) *Evaluator {
	e := &Evaluator{instance: instance, function: instance.ExportedFunction(exportNames[0])}
	words := memoryWords(instance.Memory())
	copy(words[constants.address/wordBytes:], constants.words)
	e.snapshot = words[:p.Words:p.Words]
	if n := len(p.Sites); n > 0 {
		e.fired = &words[p.Words]
		e.values = words[p.Words+1 : p.Words+1+n : p.Words+1+n]
	}
	if p.SaysRetry() {
		e.retry = &words[retryAddress(p)/wordBytes]
	}
	return e
}

// memoryWords returns a view of a whole memory as words. They are little-endian, which NewStore
// checks, and aligned, because Go aligns allocations of a page or more.
func memoryWords(m api.Memory) []uint64 {
	b, _ := m.Read(0, m.Size())
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/wordBytes)
}

// Snapshot returns the words that the policy reads, in the layout of the program's Reads. They are
// the policy's own memory: write to them to set values, which persist. The slice is the same for
// the life of the evaluator.
func (e *Evaluator) Snapshot() []uint64 { return e.snapshot }

// Eval evaluates the policy over the current snapshot. The outcome's Values are valid until the
// next Eval. The error is an *ir.EvalError, the same as ir.Interpret returns, or ErrClosed;
// the outcome is then the zero Outcome, and the evaluator stays usable. Without an error Eval does
// not allocate and takes some tens of nanoseconds (BenchmarkEval).
func (e *Evaluator) Eval() (out ir.Outcome, _ error) {
	if err := e.function.CallWithStack(context.Background(), e.result[:]); err != nil {
		return ir.Outcome{}, callError(err)
	}
	word := e.result[0]
	if word&failed != 0 {
		return ir.Outcome{}, splitError(word)
	}
	// The fields are set one by one in the result itself: the compiler would copy a variable of this
	// size in blocks, and reading a block right after writes to parts of it stalls the processor.
	out.Decision, out.Reason = splitVerdict(word)
	out.Values = e.values
	if e.fired != nil {
		out.Fired = *e.fired
	}
	if e.retry != nil && out.Decision == stubs.Throw {
		out.Retry = int64(*e.retry)
	}
	return out, nil
}

// callError distinguishes a closed instance from a trap, which should not happen.
func callError(err error) error {
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return ErrClosed
	}
	return fmt.Errorf("isolate: %w", err)
}

// Close frees the instance; Eval then returns ErrClosed. Writing to the snapshot is still allowed,
// and has no effect. A second Close does nothing.
func (e *Evaluator) Close() error { return e.instance.Close(context.Background()) }
