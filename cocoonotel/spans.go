package cocoonotel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
)

// spans tells the spans of tasks what happens to the tasks.
type spans struct{ tracer trace.Tracer }

// tell tells the span in ctx of an event. ctx is a task's context, or the context of a refused
// task.
func (s *spans) tell(ctx context.Context, e inside.Event) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	now := time.Now()
	began := now.Add(-e.Ago)
	loop := attribute.String("cocoon.loop", e.Loop)
	event := func(name string, at time.Time, more ...attribute.KeyValue) {
		span.AddEvent(name, trace.WithTimestamp(at), trace.WithAttributes(append(more, loop)...))
	}
	switch e.Happening {
	case inside.Waited:
		_, wait := s.tracer.Start(ctx, "cocoon.queue", trace.WithTimestamp(began), trace.WithAttributes(loop))
		wait.End(trace.WithTimestamp(now))
	case inside.Suspended:
		event("cocoon.suspend", began)
		event("cocoon.resume", now, attribute.Float64("cocoon.suspended", e.Ago.Seconds()))
	case inside.Stalled:
		event("cocoon.stall", now, attribute.Float64("cocoon.silent", e.Ago.Seconds()))
	case inside.Thrown:
		event("cocoon.throw", now, throw(e.Err)...)
	case inside.Refused:
		event("cocoon.refuse", now, throw(e.Err)...)
	}
}

// throw returns the attributes of a throw or a refusal.
func throw(err error) (all []attribute.KeyValue) {
	add := func(name, value string) {
		if value != "" {
			all = append(all, attribute.String("cocoon."+name, value))
		}
	}
	var p *cocoon.PreemptedError
	switch {
	case errors.As(err, &p):
		add("task", p.Task)
		add("policy", p.Policy)
		add("reason", p.Reason)
		add("section", p.Section)
		add("where", p.Where())
	case errors.Is(err, cocoon.ErrOverloaded):
		add("reason", cocoon.ErrOverloaded.Error())
	case errors.Is(err, cocoon.ErrShutdown):
		add("reason", cocoon.ErrShutdown.Error())
	default:
		add("reason", "the task was cancelled, or its context ended, while the task waited")
	}
	return all
}
