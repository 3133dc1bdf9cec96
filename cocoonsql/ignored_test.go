package cocoonsql

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestIgnoredThrowIsNotCommitted checks code in a section that ignores the throw which a statement
// has returned: its transaction is not committed, because the statement is missing. A transaction
// that begins after the throw is committed, because it is clean-up.
func TestIgnoredThrowIsNotCommitted(t *testing.T) {
	rt, loop := tasktest.OneSlot(t)
	s := &server{}
	db := open(t, modern(s))
	transfer := func(ctx context.Context, between func()) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		tx.ExecContext(ctx, "?", "first")
		between()
		tx.ExecContext(ctx, "?", "second")
		return tx.Commit()
	}
	tasktest.Must(t, loop.Run(t.Context(), "job", func(ctx context.Context) error {
		var committed, cleaned error
		_, err := cocoon.Section(ctx, "work", func() (int, error) {
			var policy *cocoon.Registration
			committed = transfer(ctx, func() {
				var err error
				policy, err = rt.RegisterPolicy(cocoon.Policy{Name: "call", On: cocoon.OnBlock, Expr: `task.section == "work" ? throw("at a call") : continue()`})
				tasktest.Must(t, err)
			})
			policy.Cancel()
			cleaned = transfer(ctx, func() {})
			return 0, nil
		})
		tasktest.Must(t, err)
		var throw *cocoon.PreemptedError
		if !errors.As(committed, &throw) {
			t.Errorf("the commit without its second statement: %v; want the throw", committed)
		}
		tasktest.Must(t, cleaned)
		return nil
	}))
	if want := []driver.Value{"first", "first", "second"}; !slices.Equal(s.values, want) {
		t.Errorf("the server got the statements %v; want %v", s.values, want)
	}
	if i, j := slices.Index(s.asked, "rollback"), slices.Index(s.asked, "commit"); i < 0 || j < i {
		t.Errorf("the server was asked %q; want a rollback, and then a commit", s.asked)
	}
}
