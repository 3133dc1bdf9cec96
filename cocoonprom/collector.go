package cocoonprom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/metrics"
)

// collector is the prometheus.Collector of a runtime.
type collector struct {
	rt    *cocoon.Runtime
	descs map[*metrics.Metric]*prometheus.Desc
}

// NewCollector returns a collector of the metrics of a runtime, for [prometheus.Register]. It may
// be used from any goroutine, even during and after the runtime's shutdown: it then reports the
// last values.
//
// A registry takes the metrics of one runtime. It refuses a second collector as registered already,
// whether the collector is of the same runtime or of another one. For several runtimes give the
// metrics of each a label:
//
//	prometheus.WrapRegistererWith(prometheus.Labels{"runtime": "batch"}, registry).MustRegister(
//		cocoonprom.NewCollector(batch))
//
// The program pays only for scrapes. A scrape takes each loop's lock once, for about a microsecond,
// and no task notices it. NewCollector panics if rt is nil.
func NewCollector(rt *cocoon.Runtime) prometheus.Collector {
	if rt == nil {
		panic("cocoonprom: NewCollector: the runtime is nil; want what cocoon.New or cocoon.Default returned")
	}
	c := &collector{rt: rt, descs: map[*metrics.Metric]*prometheus.Desc{}}
	for _, f := range metrics.All {
		c.descs[f] = prometheus.NewDesc(f.Prometheus(), f.Help, f.Labels, nil)
	}
	return c
}

// Describe sends a description of each metric.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range metrics.All {
		ch <- c.descs[f]
	}
}

// Collect sends the values of the metrics.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	metrics.Read(c.rt.Stats(), func(v metrics.Value) {
		desc := c.descs[v.Metric]
		switch v.Kind {
		case metrics.Distribution:
			ch <- &histogram{desc: desc, labels: prometheus.MakeLabelPairs(desc, v.Labels), durations: v.Durations}
		case metrics.Counter:
			ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, v.Number, v.Labels...)
		default:
			ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v.Number, v.Labels...)
		}
	})
}
