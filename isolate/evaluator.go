package isolate

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Evaluator is one instance of a policy. Fill Snapshot, call Eval, again and again. One goroutine
// at a time may use it: its memory and its stack hold one evaluation. Close alone may be called at
// any time.
type Evaluator struct {
	instance api.Module
	function api.Function // of this evaluator alone: wazero's functions hold a stack, sharing one gives wrong results silently
	result   [1]uint64    // what function returned
	snapshot []uint64     // views of the instance's memory, which never grows and so never moves
	fired    *uint64      // nil without sites
	values   []uint64
	retry    *uint64 // nil where no throw says when to retry
}

func newEvaluator(p *policy.Program, instance api.Module) *Evaluator {
	e := &Evaluator{instance: instance, function: instance.ExportedFunction(exportNames[0])}
	words := memoryWords(instance.Memory())
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

// memoryWords views a whole memory as words: little-endian, as NewStore has made sure of, and
// aligned, because Go aligns what is as large as a page.
func memoryWords(m api.Memory) []uint64 {
	b, _ := m.Read(0, m.Size())
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/wordBytes)
}

// Snapshot returns the words that the policy reads, laid out as the program's Reads say. They are
// the policy's own memory: writing them is all it takes, they keep their values, and the slice is
// the same for the evaluator's life.
func (e *Evaluator) Snapshot() []uint64 { return e.snapshot }

// Eval evaluates the policy over the snapshot as it is. The outcome's Values are good until the
// next Eval. The error is a *policy.EvalError, the same as policy.Interpret gives, or ErrClosed;
// the outcome is then the zero Outcome, and the evaluator stays usable. Without an error Eval does
// not allocate and takes some tens of nanoseconds (BenchmarkEval).
func (e *Evaluator) Eval() (stubs.Outcome, error) {
	if err := e.function.CallWithStack(context.Background(), e.result[:]); err != nil {
		return stubs.Outcome{}, callError(err)
	}
	word := e.result[0]
	if word&failed != 0 {
		return stubs.Outcome{}, splitError(word)
	}
	decision, reason := splitVerdict(word)
	out := stubs.Outcome{Decision: decision, Reason: reason, Values: e.values}
	if e.fired != nil {
		out.Fired = *e.fired
	}
	if e.retry != nil && decision == stubs.Throw {
		out.Retry = int64(*e.retry)
	}
	return out, nil
}

// callError tells a closed instance from what should not happen, a trap.
func callError(err error) error {
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return ErrClosed
	}
	return fmt.Errorf("isolate: %w", err)
}

// Close frees the instance; Eval then returns ErrClosed. The snapshot may still be written, to no
// effect. A second Close does nothing.
func (e *Evaluator) Close() error { return e.instance.Close(context.Background()) }
