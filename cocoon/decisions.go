package cocoon

import (
	"context"
	"io"
	"iter"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/decisions"
	"github.com/cocoon-go/cocoon/notify"
)

// decisionStream is a runtime's stream of decisions. Readers take none of its locks while there is
// something to read, so they delay no decision.
type decisionStream struct {
	log     *decisions.Log[Decision]
	traced  bool        // Config.Trace
	watched atomic.Bool // Decisions was called; from then on switches and states are in the stream
	ended   atomic.Bool // written with mu held

	mu        sync.Mutex // serialises additions; taken under a loop's lock
	overloads budget     // of refusals by a full queue
	cancels   budget     // of throws by Cancel and Shutdown

	// A reader that waits sets awaited, looks once more, and waits for wake. Code that adds a
	// decision looks at awaited afterwards, and starts the herald, unless one has yet to look.
	awaited   atomic.Bool
	heralding atomic.Bool

	wakeMu sync.Mutex // not taken by code that adds decisions
	wake   chan struct{}
	woken  int64 // when readers were woken last
}

// The sorts of decisions. Each keeps its own last ones, so that thousands of switches do not push
// out the refusals before them, nor these the loading of the policy that refuses.
const (
	sortChange = iota
	sortVerdict
	sortSwitch
	sortState
	sortsOfDecisions
)

const (
	// keptDecisions is the number of decisions kept of each sort.
	keptDecisions = 1024

	// wakeEvery is the shortest time between two wake-ups of the readers that wait. Without it a
	// hundred readers of a storm of decisions would take the cores that the storm leaves. Within it
	// a storm of 100,000 decisions a second makes half as many as are kept.
	wakeEvery = int64(5 * time.Millisecond)
)

// Latest makes Runtime.Decisions begin with the next decision.
const Latest = ^uint64(0)

// DecisionReader reads the decisions of a runtime, see Runtime.Decisions. One goroutine at a time
// may use it.
type DecisionReader struct {
	stream *decisionStream
	cursor *decisions.Cursor[Decision]
}

// Next returns the next decision, in the order of their numbers. If there is none, Next waits for
// it. After Shutdown has ended, and when all decisions are read, it returns io.EOF. When ctx ends
// it returns the cause. It costs about 0.1 µs while decisions are there to read. A reader that
// waits gets a decision at once, or, if another one came just before, within 5 ms.
func (r *DecisionReader) Next(ctx context.Context) (Decision, error) {
	step := firstStep
	for {
		if ctx.Err() != nil {
			return Decision{}, context.Cause(ctx)
		}
		if d, ok := r.read(); ok {
			return d, nil
		}
		wake, ended := r.stream.await() // before the last look
		if d, ok := r.read(); ok {
			return d, nil
		}
		if ended {
			return Decision{}, io.EOF
		}
		step = waitOrAsk(ctx, wake, step)
	}
}

// waitOrAsk waits until wake is closed or ctx ends. In a bubble it waits for the step instead, in
// the bubble's time, and returns the next step: wake is from outside, so the bubble's time would
// stand still in the meantime, and the deadline of ctx would not come.
func waitOrAsk(ctx context.Context, wake <-chan struct{}, step time.Duration) time.Duration {
	var again <-chan time.Time
	if notify.Bubbled() {
		wake, again = nil, time.After(step)
		step = longer(step)
	}
	select {
	case <-wake:
	case <-again:
	case <-ctx.Done():
	}
	return step
}

// All returns an iterator over the decisions from the next one on, which waits for decisions to
// come and ends with ctx or with the runtime.
func (r *DecisionReader) All(ctx context.Context) iter.Seq[Decision] {
	return func(yield func(Decision) bool) {
		for {
			if d, err := r.Next(ctx); err != nil || !yield(d) {
				return
			}
		}
	}
}

// Lost returns how many of the decisions between the start of the reader and the last call of Next
// it did not get, because they were dropped before it came to them, or not kept. The numbers of
// decisions have gaps where they were.
func (r *DecisionReader) Lost() uint64 { return r.cursor.Lost() }

func (r *DecisionReader) read() (Decision, bool) {
	d, number, ok := r.cursor.Next()
	d.Number = number
	return d, ok
}

// add adds a decision. It may be called under any lock of a loop.
func (s *decisionStream) add(sort int, d *Decision) {
	d.Time = time.Now()
	s.mu.Lock()
	if !s.ended.Load() {
		s.log.Add(sort, *d)
	}
	s.mu.Unlock()
	if s.traced && trace.IsEnabled() {
		traceDecision(d)
	}
	s.herald()
}

// addCancel adds a throw or a refusal by Cancel or Shutdown. A shutdown may end thousands of tasks
// at once, and must not push out what the policies decided before.
func (s *decisionStream) addCancel(d *Decision) {
	if s.cancels.take(notify.Now()) {
		s.add(sortVerdict, d)
	} else {
		s.skip()
	}
}

// skip counts a decision left out.
func (s *decisionStream) skip() {
	s.mu.Lock()
	if !s.ended.Load() {
		s.log.Skip()
	}
	s.mu.Unlock()
}

// herald wakes the readers that wait, if there are any, on a goroutine of its own: the caller may
// hold a loop's lock, and there may be many readers.
func (s *decisionStream) herald() {
	if s.awaited.Load() && s.heralding.CompareAndSwap(false, true) {
		notify.Outside(func() { go s.wakeAll() })
	}
}

// await returns the channel that is closed when a decision is added after the call, and whether
// none will be.
func (s *decisionStream) await() (wake <-chan struct{}, ended bool) {
	s.wakeMu.Lock()
	defer s.wakeMu.Unlock()
	if s.wake == nil {
		s.wake = newWake()
	}
	s.awaited.Store(true)
	return s.wake, s.ended.Load()
}

func (s *decisionStream) wakeAll() {
	s.wakeMu.Lock()
	pause := s.woken + wakeEvery - notify.Now()
	s.wakeMu.Unlock()
	if pause > 0 && !s.ended.Load() {
		time.Sleep(time.Duration(pause))
	}
	s.heralding.Store(false) // a decision added from here on needs another herald
	s.wakeMu.Lock()
	wake := s.wake
	s.wake, s.woken = nil, notify.Now()
	s.awaited.Store(false)
	s.wakeMu.Unlock()
	if wake != nil {
		close(wake)
	}
}

// settle settles the rulings with texts that are out of force. It takes 10 ms or so if the stream
// is full of them. Called with regMu held, when no policy with such a text is evaluated any more.
func (s *decisionStream) settle() {
	c := s.log.From(0)
	for d, _, ok := c.Next(); ok; d, _, ok = c.Next() {
		if r := d.ruling; r != nil {
			if base := r.basis.Load(); base != nil && base.gone.Load() {
				r.settle()
			}
		}
	}
}

// end ends the stream: nothing is added any more, and readers get io.EOF when they have read it.
func (s *decisionStream) end() {
	s.mu.Lock()
	s.ended.Store(true)
	s.mu.Unlock()
	s.herald()
}

// traceCategory is the category of the log events.
const traceCategory = "cocoon"

// traceDecision shows a decision in the trace.
//
//go:noinline
func traceDecision(d *Decision) { trace.Log(context.Background(), traceCategory, d.String()) }
