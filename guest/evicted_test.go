package guest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/tetratelabs/wazero/api"
)

// TestWhyClosed: a call whose task is cancelled because its instance is closed says why it was
// closed, and not only that it was cancelled.
func TestWhyClosed(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		var in *Instance
		m := compiled(t, c, func(ctx context.Context, _ api.Module, x uint32) uint32 {
			if _, err := in.Call(ctx, "spin"); err != nil {
				panic(err)
			}
			return x
		})
		limit := cocoon.TimeLimit{Func: "guest.spin", Limit: time.Millisecond, Reason: "too slow"}
		r, err := rt.RegisterTimeLimit(limit)
		if err != nil {
			t.Fatal(err)
		}
		in = instance(t, m)
		var throw *cocoon.PreemptedError
		if _, err := in.Call(background, "call", 1); !errors.As(err, &throw) || throw.Reason != limit.Reason {
			t.Errorf("a limit has stopped a nested call: %v", err)
		}
		in = instance(t, m)
		if _, err := in.Spawn(background, "call", 1).Wait(background); !errors.As(err, &throw) || throw.Reason != limit.Reason {
			t.Errorf("the same in a thread: %v", err)
		}
		r.Cancel()

		for _, function := range []string{"spin", "calls"} {
			in = instance(t, m)
			th := in.Spawn(background, function)
			soon(t, "it runs", func() bool { return th.Account().Running > 0 })
			if err := in.Shutdown(background); err != nil {
				t.Fatal(err)
			}
			var closed *ClosedError
			if _, err := th.Wait(background); !errors.Is(err, ErrShutdown) || !errors.As(err, &closed) {
				t.Errorf("%s after Shutdown: %v", function, err)
			}
		}
		in = instance(t, m)
		th := in.Spawn(background, "spin")
		th.Cancel()
		var closed *ClosedError
		if _, err := th.Wait(background); !errors.Is(err, cocoon.ErrCancelled) || errors.As(err, &closed) {
			t.Errorf("after Cancel: %v", err)
		}
	})
}

// TestNoWaitKeepsSlot: Shutdown of an instance in which nothing runs, and Wait for a thread that has
// ended, keep the slot. Each request of a server calls Shutdown, and would queue once more.
func TestNoWaitKeepsSlot(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := instance(t, compiled(t, c, nil))
		th := in.Spawn(background, "fib", 5)
		<-th.Done()
		var ran atomic.Bool
		var other *cocoon.Handle
		err := rt.Run(background, "request", func(ctx context.Context) error {
			other = rt.Go(background, "other", func(context.Context) error { ran.Store(true); return nil })
			for rt.Loop().Stats().Queued == 0 && !ran.Load() {
			}
			if ran.Load() {
				return nil // the runtime has lent the slot
			}
			if _, err := th.Wait(ctx); err != nil {
				return err
			}
			if err := in.Shutdown(ctx); err != nil {
				return err
			}
			if ran.Load() {
				t.Error("another task had the slot meanwhile")
			}
			return nil
		})
		if err = errors.Join(err, other.Wait(background)); err != nil {
			t.Error(err)
		}
	})
}

// TestAccountAtTheEnd: a thread's account is never empty once it has counted something, also at the
// moment at which its task ends. It may shrink, because the runtime corrects running time in which
// the thread had no processor.
func TestAccountAtTheEnd(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := instance(t, compiled(t, c, nil))
		for range longtest.Count(3000, 300) {
			th := in.Spawn(background, "fib", 5)
			var last cocoon.Account
			for ended := false; !ended; {
				select {
				case <-th.Done():
					ended = true
				default:
				}
				now := th.Account()
				if now == (cocoon.Account{}) && last != now {
					t.Fatalf("the account was %+v and is empty", last)
				}
				last = now
			}
		}
	})
}
