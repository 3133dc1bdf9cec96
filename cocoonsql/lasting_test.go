package cocoonsql

import (
	"context"
	"database/sql/driver"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// keeper is a connection that keeps the context of its transaction, as pgx's connection does.
type keeper struct {
	legacyConn
	last context.Context
}

func (k *keeper) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	k.last = ctx
	return &testTx{k.server}, nil
}

// inTransaction calls f in a task that has begun a transaction, with the task's context and the
// driver's. It bypasses database/sql, which would roll back by itself when the task's context has
// ended.
func inTransaction(t *testing.T, ctx context.Context, f func(ctx, theirs context.Context)) {
	t.Helper()
	_, loop := tasktest.OneSlot(t)
	k := &keeper{legacyConn: legacyConn{&server{}}}
	c := wrapConn(k).(driver.ConnBeginTx)
	err := loop.Run(ctx, "begin", func(ctx context.Context) error {
		tx, err := c.BeginTx(ctx, driver.TxOptions{})
		if err != nil {
			return err
		}
		defer func() {
			tx.Rollback()
			if k.last.Err() == nil {
				t.Error("the driver's context does not end with the transaction")
			}
		}()
		f(ctx, k.last)
		return nil
	})
	if err != nil && !errors.Is(err, cocoon.ErrCancelled) {
		t.Error(err)
	}
}

// TestThrowLeavesTheTransactionItsContext checks that a throw that ends the task's context does not
// end its transaction's context: the driver needs it for the rollback.
func TestThrowLeavesTheTransactionItsContext(t *testing.T) {
	inTransaction(t, context.Background(), func(ctx, theirs context.Context) {
		go cocoon.TaskOf(ctx).Cancel()
		<-ctx.Done()
		time.Sleep(5 * time.Millisecond)
		if theirs.Err() != nil {
			t.Errorf("the transaction's context has ended: %v, %v", theirs.Err(), context.Cause(theirs))
		}
	})
}

// TestTransactionEndsWithItsCaller checks that the end of the caller's context ends the
// transaction's, with its error and its cause.
func TestTransactionEndsWithItsCaller(t *testing.T) {
	reason := errors.New("the client has gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	inTransaction(t, ctx, func(_, theirs context.Context) {
		cancel(reason)
		<-theirs.Done()
		if theirs.Err() != context.Canceled || context.Cause(theirs) != reason {
			t.Errorf("%v, %v", theirs.Err(), context.Cause(theirs))
		}
	})
	ctx, stop := context.WithDeadlineCause(context.Background(), time.Now().Add(200*time.Millisecond), reason)
	defer stop()
	inTransaction(t, ctx, func(ctx, theirs context.Context) {
		at, has := theirs.Deadline()
		if want, _ := ctx.Deadline(); at != want || !has {
			t.Errorf("the deadline is %v %v; want %v", at, has, want)
		}
		<-theirs.Done()
		if theirs.Err() != context.DeadlineExceeded || context.Cause(theirs) != reason {
			t.Errorf("%v, %v", theirs.Err(), context.Cause(theirs))
		}
	})
}

// TestLastingEndsLate checks that a server that does not respond cannot keep a transaction open
// forever after a throw, and that a deadline still takes effect.
func TestLastingEndsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		l := last(ctx)
		defer l.end()
		l.begun.Store(true)
		cancel(&cocoon.PreemptedError{Reason: "too long"})
		time.Sleep(lateEnd - time.Millisecond)
		if synctest.Wait(); l.Err() != nil {
			t.Error("it ended early")
		}
		time.Sleep(2 * time.Millisecond)
		if synctest.Wait(); !errors.Is(l.Err(), context.Canceled) {
			t.Error("it did not end")
		}
		early := last(ctx) // ctx has ended already, and no transaction has begun
		defer early.end()
		if synctest.Wait(); early.Err() == nil {
			t.Error("before the transaction has begun a throw does not end it")
		}
		short, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		deadline := last(short)
		defer deadline.end()
		time.Sleep(2 * time.Second)
		if synctest.Wait(); deadline.Err() != context.DeadlineExceeded {
			t.Error(deadline.Err())
		}
	})
}
