package cocoonotel

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// recorder is a tracer for tests, which read its spans.
type recorder struct {
	*tracetest.SpanRecorder
	provider *sdktrace.TracerProvider
}

// traced makes the tasks of a runtime tell their spans what happens, until the end of the test.
func traced(t testing.TB, rt *cocoon.Runtime) *recorder {
	t.Helper()
	r := &recorder{SpanRecorder: tracetest.NewSpanRecorder()}
	r.provider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r))
	stop, err := Instrument(rt, nil, r.provider)
	tasktest.Must(t, err)
	t.Cleanup(func() { tasktest.Must(t, stop()) })
	return r
}

// begin begins a span, as a middleware outside of Cocoon's does.
func (r *recorder) begin(name string) (context.Context, trace.Span) {
	return r.provider.Tracer("test").Start(context.Background(), name)
}

// events returns the names of a span's events, each with the names of its attributes.
func events(s trace.Span, attributes ...string) (all []string) {
	for _, e := range s.(sdktrace.ReadOnlySpan).Events() {
		text := e.Name
		for _, name := range attributes {
			for _, a := range e.Attributes {
				if string(a.Key) == name {
					text += " " + a.Value.AsString()
				}
			}
		}
		all = append(all, text)
	}
	return all
}

func want(t *testing.T, s trace.Span, attributes []string, want ...string) {
	t.Helper()
	if got := events(s, attributes...); !slices.Equal(got, want) {
		t.Errorf("the events are %q; want %q", got, want)
	}
}

// A throw is an event, wherever it meets the task.
func TestThrows(t *testing.T) {
	rt := started(t, cocoon.Config{Slots: 1})
	r := traced(t, rt)
	about := []string{"cocoon.policy", "cocoon.reason", "cocoon.section", "cocoon.loop"}

	ctx, span := r.begin("at a safe point")
	rt.Run(ctx, "endless", tasktest.Spin)
	want(t, span, about, "cocoon.throw time-limit/endless it takes too long default")
	if where := events(span, "cocoon.where"); !strings.Contains(where[0], "tasktest.Spin ") {
		t.Errorf("it happened at %q", where)
	}

	ctx, span = r.begin("swallowed, and repeated")
	rt.Run(ctx, "endless", func(ctx context.Context) error {
		func() {
			defer func() { recover() }()
			tasktest.Spin(ctx)
		}()
		return tasktest.Spin(ctx)
	})
	want(t, span, about, "cocoon.throw time-limit/endless it takes too long default")

	ctx, span = r.begin("into a section")
	tasktest.Must(t, rt.Run(ctx, "task", func(ctx context.Context) error {
		for range 2 {
			if _, err := cocoon.Section(ctx, "part", func() (int, error) { return 0, tasktest.Spin(ctx) }); err == nil {
				t.Error("the part was not thrown into")
			}
		}
		return nil
	}))
	one := "cocoon.throw time-limit/part the part takes too long part default"
	want(t, span, about, one, one)

	ctx, span = r.begin("by its context")
	waits := make(chan struct{})
	h := rt.Go(ctx, "task", func(ctx context.Context) error {
		return cocoon.Block(ctx, func() error { close(waits); <-ctx.Done(); return ctx.Err() })
	})
	<-waits
	h.Cancel()
	if err := h.Wait(context.Background()); !errors.Is(err, cocoon.ErrCancelled) {
		t.Errorf("got %v", err)
	}
	want(t, span, about, "cocoon.throw cancelled default")

	ctx, span = r.begin("refused")
	rt.Run(ctx, "unwanted", nothing)
	want(t, span, about, "cocoon.refuse shed not now default")

	ctx, span = r.begin("nothing happens")
	rt.Run(ctx, "task", nothing)
	want(t, span, nil)
	if n := len(r.Ended()); n != 0 {
		t.Errorf("%d spans that no test began", n)
	}
}

// A scan makes room for a get, which waits for it.
func TestSuspension(t *testing.T) {
	rt := started(t, cocoon.Config{Slots: 1})
	r := traced(t, rt)
	ctx, scan := r.begin("scan")
	var begun, served atomic.Bool
	h := rt.Go(ctx, "scan", func(ctx context.Context) error {
		for begun.Store(true); !served.Load(); {
			cocoon.SafePoint(ctx)
		}
		return nil
	})
	tasktest.Eventually(t, "the scan to begin", begun.Load)
	ctx, get := r.begin("get")
	tasktest.Must(t, rt.Run(ctx, "get", func(context.Context) error { served.Store(true); return nil }))
	tasktest.Must(t, h.Wait(context.Background()))
	want(t, scan, []string{"cocoon.loop"}, "cocoon.suspend default", "cocoon.resume default")
	if e := scan.(sdktrace.ReadOnlySpan).Events(); len(e) == 2 && !e[0].Time.Before(e[1].Time) {
		t.Errorf("suspended at %v, resumed at %v", e[0].Time, e[1].Time)
	}
	ended := r.Ended()
	if len(ended) != 1 || ended[0].Name() != "cocoon.queue" || ended[0].Parent().SpanID() != get.SpanContext().SpanID() {
		t.Fatalf("the get's wait is no span of its own: %v", ended)
	}
	if d := ended[0].EndTime().Sub(ended[0].StartTime()); d <= 0 || d > tasktest.Patience {
		t.Errorf("it waited for %v", d)
	}
}

// A task that passes no safe point is told while it goes on.
func TestStalls(t *testing.T) {
	rt := started(t, cocoon.Config{Slots: 1, StallAfter: time.Millisecond})
	r := traced(t, rt)
	ctx, deaf := r.begin("deaf")
	var begun, told atomic.Bool
	h := rt.Go(ctx, "task", func(context.Context) error {
		for begun.Store(true); !told.Load(); {
		}
		return nil
	})
	tasktest.Eventually(t, "it to begin", begun.Load)
	tasktest.Must(t, rt.Run(context.Background(), "other", nothing))
	tasktest.Eventually(t, "the event", func() bool { return len(events(deaf)) > 0 })
	told.Store(true)
	tasktest.Must(t, h.Wait(context.Background()))
	want(t, deaf, []string{"cocoon.loop"}, "cocoon.stall default")
	if a := deaf.(sdktrace.ReadOnlySpan).Events()[0].Attributes; a[0].Key != "cocoon.silent" || a[0].Value.AsFloat64() < 0.0005 {
		t.Errorf("%v", a)
	}
}

// odd is a context with values that cannot be read.
type odd struct{ context.Context }

func (odd) Value(any) any { panic("no values here") }

// Contexts that panic cost no slot, and the log says it.
func TestOddContexts(t *testing.T) {
	var log strings.Builder
	rt, err := cocoon.New(cocoon.Config{Slots: 1, QuietThrows: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	tasktest.Must(t, err)
	tasktest.Must(t, rt.LoadPolicies(strings.NewReader(document)))
	stop, err := Instrument(rt, nil, sdktrace.NewTracerProvider())
	tasktest.Must(t, err)
	// The context of a task is asked for its values when the task begins. So this one turns odd
	// later.
	ctx := &turning{Context: context.Background()}
	if err := rt.Run(ctx, "endless", func(inner context.Context) error { ctx.odd.Store(true); return tasktest.Spin(inner) }); err == nil {
		t.Error("it was not thrown into")
	}
	ctx.odd.Store(false)
	tasktest.Must(t, rt.Run(ctx, "task", nothing))
	tasktest.Must(t, stop())
	tasktest.Must(t, rt.Shutdown(context.Background()))
	if st := rt.Loop().Stats(); st.Busy != 0 {
		t.Errorf("a slot is lost: %+v", st)
	}
	if !strings.Contains(log.String(), "no values here") {
		t.Errorf("the log is %q", log.String())
	}
}

type turning struct {
	context.Context
	odd atomic.Bool
}

func (c *turning) Value(key any) any {
	if c.odd.Load() {
		return odd{}.Value(key)
	}
	return c.Context.Value(key)
}

// A runtime has one tracer at a time, and none after stop.
func TestOneTracer(t *testing.T) {
	rt := started(t, cocoon.Config{Slots: 1})
	provider := sdktrace.NewTracerProvider()
	stop, err := Instrument(rt, nil, provider)
	tasktest.Must(t, err)
	if _, err := Instrument(rt, nil, provider); !errors.Is(err, cocoon.ErrDuplicate) {
		t.Errorf("got %v", err)
	}
	tasktest.Must(t, stop())
	ctx, span := provider.Tracer("test").Start(context.Background(), "untold")
	rt.Run(ctx, "endless", tasktest.Spin)
	want(t, span, nil)
	traced(t, rt)
	tasktest.Must(t, stop()) // it ends no other's
	if _, err := Instrument(rt, nil, provider); !errors.Is(err, cocoon.ErrDuplicate) {
		t.Errorf("after a second stop: got %v", err)
	}
}
