package cocoon

import (
	"context"
	"testing"
	"unsafe"

	"github.com/cocoon-go/cocoon/stubs"
)

// reused is a context as in some web frameworks: one value for one request after another. It is not
// comparable.
type reused struct {
	*borrowed
	_ []int
}

type borrowed struct{ context.Context }

// TestContextThatIsUsedAgain: tasks share their origin while the context is the same. The same
// address does not suffice.
func TestContextThatIsUsedAgain(t *testing.T) {
	rt := start(t, Config{})
	label := stubs.Intern("tenant")
	for _, b := range []struct {
		name string
		ctx  func(*borrowed) context.Context
	}{
		{"a pointer", func(b *borrowed) context.Context { return b }},
		{"a value that == panics for", func(b *borrowed) context.Context { return reused{borrowed: b} }},
	} {
		t.Run(b.name, func(t *testing.T) {
			inner := &borrowed{}
			ctx := b.ctx(inner)
			var kept []context.Context
			for _, tenant := range []string{"a", "a", "b", "", "a"} {
				inner.Context = t.Context()
				if tenant != "" {
					inner.Context = WithLabel(t.Context(), "tenant", tenant)
				}
				must(t, rt.Run(ctx, "request", func(ctx context.Context) error {
					if got := TaskOf(ctx).attrs.lookup(label); (got == 0) != (tenant == "") || got != 0 && got != stubs.Intern(tenant) {
						t.Errorf("a task of tenant %q has label %v", tenant, got)
					}
					kept = append(kept, ctx)
					return nil
				}))
			}
			// The same context inside a task, and then outside again.
			request := func(parent *Task) func(context.Context) error {
				return func(ctx context.Context) error {
					if TaskOf(ctx).Parent() != parent {
						t.Errorf("its parent is %v, not that in which it was started", TaskOf(ctx).Parent())
					}
					return nil
				}
			}
			must(t, rt.Run(t.Context(), "outer", func(outer context.Context) error {
				inner.Context = outer
				return rt.Run(ctx, "request", request(TaskOf(outer)))
			}))
			inner.Context = t.Context()
			must(t, rt.Run(ctx, "request", request(nil)))
			for i, ctx := range kept {
				if task := TaskOf(ctx); ctx.Err() == nil || task.Status() != Returned || i > 0 && task == TaskOf(kept[i-1]) {
					t.Errorf("task %d, kept beyond its end: %v, error %v", i, task.Status(), ctx.Err())
				}
			}
		})
	}
}

// TestOneContextAfterAnother: tasks that differ only in their contexts have their own values and
// names.
func TestOneContextAfterAnother(t *testing.T) {
	rt := start(t, Config{})
	for i := range 3 {
		must(t, rt.Run(context.WithValue(t.Context(), keyOfTest{}, i), "job", func(ctx context.Context) error {
			if got := ctx.Value(keyOfTest{}); got != i {
				t.Errorf("the value of task %d is %v", i, got)
			}
			return nil
		}))
	}
	for _, name := range []string{"a", "b", "a"} {
		must(t, rt.Run(background, name, func(ctx context.Context) error {
			if got := TaskOf(ctx).Name(); got != name {
				t.Errorf("task %q is %q", name, got)
			}
			return nil
		}))
	}
}

// TestDeclaredBetween: a document applies to the next task, although the task is otherwise like the
// last one.
func TestDeclaredBetween(t *testing.T) {
	rt := start(t, Config{})
	for _, want := range []int32{0, 7} {
		must(t, rt.Run(background, "job", func(ctx context.Context) error {
			if got := TaskOf(ctx).attrs.prio(); got != want {
				t.Errorf("priority %d, want %d", got, want)
			}
			return nil
		}))
		if want == 0 {
			load(t, rt, "tasks: {job: {priority: 7}}")
		}
	}
}

// TestRunLeavesLittle: a task is 24 bytes of garbage among like tasks on its strand, and 80 if its
// context is its own. So the garbage collector of a busy loop has little to do (bench: scale).
func TestRunLeavesLittle(t *testing.T) {
	if alike, alone := unsafe.Sizeof(Task{}), unsafe.Sizeof(sole{}); alike > 24 || alone > 80 {
		t.Errorf("a task has %d bytes, or %d with an origin of its own", alike, alone)
	}
	s := start(t, Config{}).Loop().idle() // one strand: with the race detector the pool loses some
	last, shared := s.taskOf(t.Context(), nil, nil, "job"), 0
	for range 1000 {
		task := s.taskOf(t.Context(), nil, nil, "job")
		if task == last {
			t.Error("a task was used again")
		}
		if task.origin == last.origin {
			shared++
		}
		last = task
	}
	if shared < 500 { // a garbage collection in between resets it
		t.Errorf("%d of 1000 tasks shared their origin", shared)
	}
}
