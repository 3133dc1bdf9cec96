package cocoon

import (
	"context"
	"errors"
	"testing"
)

// pollingError is an error whose methods poll, as cocoon build makes those of an application.
type pollingError struct{ poll func() }

func (e *pollingError) Error() string { return "mine" }
func (e *pollingError) Is(error) bool { e.poll(); return false }
func (e *pollingError) As(any) bool   { e.poll(); return false }
func (e *pollingError) Unwrap() error { e.poll(); return nil }

// TestThrowInMethodsOfAnError has functions that return such an error while a throw is pending, or
// after they have swallowed it. The boundary asks the error what it is. No throw may leave it
// half-way: the task must end, with its slot free.
func TestThrowInMethodsOfAnError(t *testing.T) {
	fails := func(ctx context.Context, swallow bool) error {
		TaskOf(ctx).Cancel()
		if swallow {
			func() {
				defer func() { recover() }()
				spinForever(ctx)
			}()
		}
		return &pollingError{func() { SafePoint(ctx) }}
	}
	for name, fn := range map[string]func(ctx context.Context) error{
		"pending":   func(ctx context.Context) error { return fails(ctx, false) },
		"swallowed": func(ctx context.Context) error { return fails(ctx, true) },
		"section of a pending throw": func(ctx context.Context) error {
			_, err := SectionContext(ctx, "part", func(ctx context.Context) (int, error) { return 0, fails(ctx, false) })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			err := rt.Run(background, "job", fn)
			if own := (*pollingError)(nil); !errors.As(err, &own) {
				t.Errorf("it returned %v; want its own error, or the throw with it", err)
			}
			if err := rt.Run(background, "next", func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestThrowInMethodsOfAnErrorOfASection has a section that swallows its throw.
func TestThrowInMethodsOfAnErrorOfASection(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	signal := throwOnSignal(t, rt, "job")
	err := rt.Run(background, "job", func(ctx context.Context) error {
		_, err := Section(ctx, "s", func() (int, error) {
			signal()
			func() {
				defer func() { recover() }()
				spinForever(ctx)
			}()
			return 0, &pollingError{func() { SafePoint(ctx) }}
		})
		preemption(t, err)
		return nil
	})
	if err != nil {
		t.Errorf("the throw into the section ended the task: %v", err)
	}
}
