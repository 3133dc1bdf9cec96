package cocoonprom

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// scraped gets the metrics of a server as text, and returns their size.
func scraped(t testing.TB, url string) int64 {
	t.Helper()
	resp, err := http.Get(url)
	tasktest.Must(t, err)
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", resp.Status, err)
	}
	return n
}

// A scrape every 10 ms under load: each is complete, the counters never fall, no task that runs in
// an open slot is disturbed, and the tasks end.
func TestScrapesUnderLoad(t *testing.T) {
	rt := started(t, cocoon.Config{Slots: 2})
	registry := registered(t, rt)
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	stop := load(t, rt)
	last := map[string]float64{}
	for range 100 {
		time.Sleep(10 * time.Millisecond)
		if n := scraped(t, server.URL); n < 5000 || n > 100_000 {
			t.Fatalf("a scrape of %d bytes", n)
		}
		for name, f := range gathered(t, registry) {
			for _, m := range f.Metric {
				v := m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
				key := name
				for _, l := range m.Label {
					key += " " + l.GetValue()
				}
				if m.GetGauge() == nil && v < last[key] {
					t.Fatalf("%s fell from %v to %v", key, last[key], v)
				}
				last[key] = v
			}
		}
	}
	stop()
	if st := rt.Loop().Stats(); st.Ended == 0 || st.Refusals.Policy == 0 {
		t.Errorf("no load: %+v", st)
	}
}

// A million names of tasks, clients and tenants make a scrape neither large nor slow.
func TestManyNames(t *testing.T) {
	names := longtest.Count(1_000_000, 100_000)
	rt := started(t, cocoon.Config{Slots: 2})
	registry := registered(t, rt)
	ctx := context.Background()
	size := func() (series int) {
		for _, f := range gathered(t, registry) {
			series += len(f.Metric)
		}
		return series
	}
	for _, tenant := range []string{"gold", "free"} {
		rt.Run(cocoon.WithLabel(ctx, "tenant", tenant), "get", func(context.Context) error { return nil })
	}
	before := size()
	for i := range names {
		ctx := cocoon.WithLabel(cocoon.WithLabel(ctx, "client", strconv.Itoa(i)), "tenant", "tenant "+strconv.Itoa(i))
		tasktest.Must(t, rt.Run(ctx, "task "+strconv.Itoa(i), func(context.Context) error { return nil }))
	}
	if after := size(); after != before {
		t.Errorf("%d series with a few names, %d with many", before, after)
	}
	begin := time.Now()
	for range 10 {
		size()
	}
	if each := time.Since(begin) / 10; each > 500*time.Millisecond {
		t.Errorf("a scrape takes %v", each)
	}
}

// Scrapes while the runtime shuts down, and afterwards, have all metrics of the loops.
func TestScrapesDuringShutdown(t *testing.T) {
	for range 20 {
		rt, err := cocoon.New(cocoon.Config{Slots: 2})
		tasktest.Must(t, err)
		registry := registered(t, rt)
		release := make(chan struct{})
		begun := make(chan struct{})
		h := rt.Go(context.Background(), "task", func(ctx context.Context) error {
			close(begun)
			return cocoon.Block(ctx, func() error { <-release; return nil })
		})
		<-begun
		var scrapes sync.WaitGroup
		down := make(chan struct{})
		for range 2 {
			scrapes.Go(func() {
				for ended := false; !ended; {
					select {
					case <-down:
						ended = true // one more
					default:
					}
					all, err := registry.Gather()
					if err != nil || !slices.ContainsFunc(all, func(f *dto.MetricFamily) bool { return f.GetName() == "cocoon_loop_slots" }) {
						t.Errorf("the loop has no metrics: %v", err)
					}
				}
			})
		}
		go func() { time.Sleep(time.Millisecond); close(release) }()
		tasktest.Must(t, rt.Shutdown(context.Background()))
		close(down)
		scrapes.Wait()
		tasktest.Must(t, h.Wait(context.Background()))
	}
}

func BenchmarkScrape(b *testing.B) {
	rt := started(b, cocoon.Config{Slots: 2})
	registry := registered(b, rt)
	stop := load(b, rt)
	time.Sleep(100 * time.Millisecond)
	stop()
	for b.Loop() {
		if _, err := registry.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}
