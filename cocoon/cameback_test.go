package cocoon

import (
	"context"
	"testing"

	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/notify"
)

// Each event block has an event unblock, whether the task gives its slot up, keeps it, stands aside
// or is an extra task.
func TestEachBlockHasAnUnblock(t *testing.T) {
	const calls = 5
	const document = `
tasks: {waits: waits}
states: {blocks: 0, unblocks: 0}
policies:
  - {name: blocks, on: block, match: {tasks: [plain, waits, extra]}, expr: 'add("blocks", 1)'}
  - {name: unblocks, on: unblock, match: {tasks: [plain, waits, extra]}, expr: 'add("unblocks", 1)'}
`
	brief := func(what inside.Brief) func(t *testing.T, ctx context.Context) {
		return func(t *testing.T, ctx context.Context) {
			call, err := inside.BeginBrief(ctx, what)
			must(t, err)
			call.Task.EndCall(call)
		}
	}
	for way, call := range map[string]func(t *testing.T, ctx context.Context){
		"Block":     func(t *testing.T, ctx context.Context) { must(t, Block(ctx, func() error { return nil })) },
		"BlockCall": func(t *testing.T, ctx context.Context) { must(t, BlockCall(ctx, func() error { return nil })) },
		"write":     brief(inside.Writes),
		"receive":   brief(inside.Receives),
		"work":      brief(inside.Works),
	} {
		for _, name := range []string{"plain", "waits", "extra"} {
			t.Run(way+" of "+name, func(t *testing.T) {
				rt := start(t, Config{Slots: 1, StallAfter: -1})
				load(t, rt, document)
				h, release := extraOrNot(t, rt.Loop(), name, func(ctx context.Context) error {
					for range calls {
						call(t, ctx)
					}
					return nil
				})
				release()
				must(t, h.Wait(background))
				for _, state := range []string{"blocks", "unblocks"} {
					if n := rt.State(state); n != int64(calls) {
						t.Errorf("%s is %v after %d calls", state, n, calls)
					}
				}
			})
		}
	}
}

// extraOrNot starts a task, as an extra task if its name says so; then another task holds the slot
// until release.
func extraOrNot(t *testing.T, l *Loop, name string, fn func(context.Context) error) (h *Handle, release func()) {
	t.Helper()
	if name != "extra" {
		return l.Go(background, name, fn), func() {}
	}
	end := taken(t, l)
	l.lockAll()
	l.core.Hold()
	l.unlock()
	free := make(chan struct{})
	h = l.Go(background, name, func(ctx context.Context) error { <-free; return fn(ctx) })
	eventually(t, "it to wait", func() bool { return l.Stats().Queued == 1 })
	l.lockAll()
	defer l.unlock()
	now := notify.Now()
	l.core.Release(now)
	l.startExtra(l.core.StartLent(now).Owner.(*strand), now)
	return h, func() { end(); close(free) }
}
