package guest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/tetratelabs/wazero/api"
)

// A word is a place in a shared memory where threads wait.
type word struct {
	memory  api.Memory
	address uint32
}

// A waiter is a thread in memory.atomic.wait. It is used once.
type waiter struct {
	word
	thread *activation // it gets the turn after the notification; nil: it has not given it up
	woken  chan struct{}
}

// sleepers are the threads that wait in shared memory, the longest first. The lock is taken before
// an instance's lock. Instances of several modules may share a memory, so the list is not part of
// any of them.
var sleepers = struct {
	sync.Mutex
	at map[word][]*waiter
}{at: map[word][]*waiter{}}

// sleep adds w to its word, if the word has the expected value.
func (w *waiter) sleep(expected uint64, size uint32) bool {
	sleepers.Lock()
	defer sleepers.Unlock()
	var value uint64
	if size == 8 {
		value, _ = w.memory.ReadUint64Le(w.address)
	} else {
		v, _ := w.memory.ReadUint32Le(w.address)
		value = uint64(v)
	}
	if value != expected {
		return false
	}
	sleepers.at[w.word] = append(sleepers.at[w.word], w)
	return true
}

// withdraw takes w from its word, and reports whether it was there. Otherwise it was notified.
func (w *waiter) withdraw() bool {
	sleepers.Lock()
	defer sleepers.Unlock()
	all := sleepers.at[w.word]
	i := slices.Index(all, w)
	if i < 0 {
		return false
	}
	w.word.set(slices.Delete(all, i, i+1))
	return true
}

// set keeps the waiters of a word. Called under the lock.
func (p word) set(all []*waiter) {
	if len(all) == 0 {
		delete(sleepers.at, p)
	} else {
		sleepers.at[p] = all
	}
}

// notify wakes at most count waiters, the longest first, and returns their number. They queue for
// their turns now, in this order.
func (p word) notify(count uint32) uint32 {
	sleepers.Lock()
	defer sleepers.Unlock()
	all := sleepers.at[p]
	n := min(uint64(count), uint64(len(all)))
	for _, w := range all[:n] {
		if w.thread != nil {
			w.thread.reserve()
		}
		close(w.woken)
	}
	p.set(slices.Delete(all, 0, int(n)))
	return uint32(n)
}

// Results of memory.atomic.wait.
const (
	notified = iota
	notEqual
	timedOut
)

// atWait is a guest's memory.atomic.wait32 or wait64: address, expected value, timeout in ns (a
// negative one never ends), size of the value. The thread gives back its slot, and with
// Config.Threads its turn.
func atWait(ctx context.Context, mod api.Module, stack []uint64) {
	w := &waiter{word: word{mod.Memory(), uint32(stack[0])}, woken: make(chan struct{})}
	a := activationOf(ctx)
	if a != nil && a.in.module.config.Threads {
		w.thread = a.keeper()
	}
	switch {
	case !w.sleep(stack[1], uint32(stack[3])):
		stack[0] = notEqual
	case w.wait(ctx, a, time.Duration(stack[2])):
		stack[0] = notified
	default:
		stack[0] = timedOut
	}
}

// wait waits, and reports whether w was notified. A throw, and the end of the instance or of the
// context, unwind the guest.
func (w *waiter) wait(ctx context.Context, a *activation, timeout time.Duration) (woken bool) {
	over, unwinds := false, true
	defer func() {
		if unwinds && woken {
			w.notify(1) // another thread needs it, because this one ends
		}
	}()
	block := func() {
		defer func() { woken = !w.withdraw() }()
		over = w.block(ctx, a, timeout)
	}
	if w.thread != nil {
		w.thread.away(block)
	} else {
		block()
	}
	switch {
	case over:
	case a != nil:
		a.look()
	default:
		cocoon.SafePoint(ctx)
	}
	unwinds = false
	return woken
}

// block waits without a slot, and reports whether the wait is over. If it is not, something else
// has happened.
func (w *waiter) block(ctx context.Context, a *activation, timeout time.Duration) (over bool) {
	var end <-chan time.Time
	if timeout >= 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		end = t.C
	}
	var closing <-chan struct{}
	if a != nil {
		ctx, closing = a.Context, a.in.closing
	}
	cocoon.Block(ctx, func() error {
		select {
		case <-w.woken:
			over = true
		case <-end:
			over = true
		case <-closing:
		case <-ctx.Done():
		}
		return nil
	})
	return over
}

// atNotify is a guest's memory.atomic.notify: address, count.
func atNotify(_ context.Context, mod api.Module, stack []uint64) {
	stack[0] = uint64(word{mod.Memory(), uint32(stack[0])}.notify(uint32(stack[1])))
}
