package cocoonprom_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonprom"
)

// The program runs three tasks and prints what a scrape says of them.
func ExampleNewCollector() {
	rt, err := cocoon.New(cocoon.Config{Slots: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Shutdown(context.Background())
	registry := prometheus.NewRegistry()
	registry.MustRegister(cocoonprom.NewCollector(rt))
	metrics := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer metrics.Close()

	for range 3 {
		rt.Run(context.Background(), "task", func(context.Context) error { return nil })
	}
	resp, err := metrics.Client().Get(metrics.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "cocoon_loop_slots") || strings.HasPrefix(line, "cocoon_loop_tasks_ended") {
			fmt.Print(line)
		}
	}
	// Output:
	// cocoon_loop_slots{loop="default"} 2
	// cocoon_loop_tasks_ended_total{loop="default"} 3
}
