package cocoon

import (
	"context"
	"testing"
	"time"
)

type embeds struct {
	context.Context
	context.CancelFunc
}

type embedsDeep struct{ *embeds }

// detached is a context without an end, as programs made it before there was WithoutCancel.
type detached struct{ context.Context }

func (detached) Done() <-chan struct{} { return nil }

// opaque is a context that does not show its parent.
type opaque struct{ of context.Context }

func (o opaque) Deadline() (time.Time, bool) { return o.of.Deadline() }
func (o opaque) Done() <-chan struct{}       { return o.of.Done() }
func (o opaque) Err() error                  { return o.of.Err() }
func (o opaque) Value(key any) any           { return o.of.Value(key) }

// shy has a Done of its own.
type shy struct {
	context.Context
	done chan struct{}
}

func (s shy) Done() <-chan struct{} { return s.done }

type key struct{}

// The runtime recognizes the contexts that end with the task's.
func TestRelationOfContexts(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	cancelled := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancel(ctx)
		t.Cleanup(cancel)
		return ctx
	}
	timed := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithTimeout(ctx, time.Hour)
		t.Cleanup(cancel)
		return ctx
	}
	must(t, rt.Run(cancelled(background), "job", func(ctx context.Context) error {
		s := TaskOf(ctx).strand
		without := context.WithoutCancel(ctx)
		for name, c := range map[string]struct {
			ctx  context.Context
			want relation
		}{
			"its own":                     {ctx, follows},
			"with a value":                {context.WithValue(ctx, key{}, 1), follows},
			"with a time":                 {timed(ctx), follows},
			"many":                        {timed(context.WithValue(cancelled(WithLabel(timed(ctx), "a", "b")), key{}, 1)), follows},
			"embedded":                    {timed(embeds{Context: cancelled(ctx)}), follows},
			"embedded by pointer":         {&embedsDeep{&embeds{Context: timed(ctx)}}, follows},
			"opaque below":                {cancelled(opaque{ctx}), follows},
			"background":                  {background, stays},
			"without an end":              {without, stays},
			"without an end, with a time": {timed(context.WithValue(without, key{}, 1)), stays},
			"detached":                    {timed(detached{ctx}), stays},
			"opaque":                      {opaque{timed(ctx)}, unknown},
			"a Done of its own":           {shy{ctx, make(chan struct{})}, unknown},
		} {
			if got := s.relation(c.ctx); got != c.want {
				t.Errorf("%s: %d; want %d", name, got, c.want)
			}
		}
		_, err := SectionContext(ctx, "s", func(inner context.Context) (int, error) {
			id := s.sections.owned.Load().id
			if !s.endsFor(id, timed(inner)) || s.endsFor(id, ctx) || !s.endsFor(0, inner) {
				t.Error("the section's context is confused with the task's")
			}
			return 0, nil
		})
		return err
	}))
}
