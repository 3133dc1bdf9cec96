package guest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestWhere demands that the place of a throw into a guest is the guest's caller, in and outside a
// task, and that a thread has none. The error of the call names the guest's functions.
func TestWhere(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, QuietThrows: true})
	m := compiled(t, Config{Name: "g", Loop: rt.Loop()}, nil)
	if _, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "g.*", Limit: 5 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	thrown := func(run func(in *Instance) error) *cocoon.PreemptedError {
		err := run(instance(t, m))
		var throw *cocoon.PreemptedError
		if !errors.As(err, &throw) {
			t.Fatal(err)
		}
		return throw
	}
	for name, run := range map[string]func(in *Instance) error{
		"a call": func(in *Instance) error {
			_, err := in.Call(background, "spin")
			return err
		},
		"a call in a task": func(in *Instance) error {
			return rt.Loop().Run(background, "task", func(ctx context.Context) error {
				_, err := in.Call(ctx, "spin")
				return err
			})
		},
	} {
		if where := thrown(run).Where(); !strings.Contains(where, "guest.TestWhere") {
			t.Errorf("%s: thrown at %q; want the caller, TestWhere", name, where)
		}
	}
	thread := thrown(func(in *Instance) error {
		_, err := in.Spawn(background, "spin").Wait(background)
		return err
	})
	if where := thread.Where(); where != "" {
		t.Errorf("a thread: thrown at %q; want no place", where)
	}
}
