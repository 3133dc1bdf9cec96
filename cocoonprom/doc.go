// Package cocoonprom exports the metrics of a Cocoon runtime to Prometheus:
//
//	prometheus.MustRegister(cocoonprom.NewCollector(rt))
//	http.Handle("/metrics", promhttp.Handler())
//
// The document docs/metrics.md lists the metrics: when each matters, and what to do then. The
// folder of this package has a Grafana dashboard (dashboard/cocoon.json) and alert rules
// (rules/cocoon.yaml) for them.
//
// # Histograms
//
// Durations are native histograms of schema 3, with buckets that are 9 % wide. They are the
// runtime's own buckets, so no precision is lost. Prometheus asks for native histograms if the
// scrape configuration has
//
//	scrape_native_histograms: true
//
// or, before version 3.8, if it runs with --enable-feature=native-histograms. Otherwise it gets
// classic histograms of the same names, with a bucket for each power of two from 8 µs to 32 s.
//
// # Labels
//
// No label has a value that a client chose, and the number of values is bounded. Labels are names
// of loops, policies, states and of tenants with a share of their own, and a few fixed words. Tasks
// have no label, because their names may come from requests.
package cocoonprom
