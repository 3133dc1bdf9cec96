// Package metrics lists what a runtime tells monitoring systems, and reads it. Packages cocoonprom
// and cocoonotel hand it on, so both report the same metrics.
//
// Every label has a bounded number of values, and none is a client's text: loops, policies and
// states are named by the program and its documents, and a tenant has metrics of its own only if
// the operator gave it a share.
package metrics

import "strings"

// Kind is the kind of a metric's values.
type Kind int

const (
	Gauge        Kind = iota // a value now; its sum over labels means nothing
	Level                    // an amount now, which may be added up over labels
	Counter                  // an amount that only grows
	Distribution             // durations that were counted
)

func (k Kind) String() string {
	return [...]string{"gauge", "level", "counter", "histogram"}[k]
}

// Metric describes a metric.
type Metric struct {
	Name   string // by the conventions of OpenTelemetry: cocoon.loop.slots
	Unit   string // of UCUM: s for seconds, 1 for a share, {task} for a number of tasks
	Kind   Kind
	Labels []string
	Help   string
}

// Prometheus returns the name by the conventions of Prometheus: what Prometheus itself makes of the
// name when it receives the metric from OpenTelemetry.
func (m *Metric) Prometheus() string {
	name := strings.ReplaceAll(m.Name, ".", "_")
	switch m.Unit {
	case "s":
		name += "_seconds"
	case "1":
		name += "_ratio"
	}
	if m.Kind == Counter {
		name += "_total"
	}
	return name
}

// All are the metrics, in the order of docs/metrics.md.
var All []*Metric

func metric(name, unit string, kind Kind, help string, labels ...string) *Metric {
	m := &Metric{Name: name, Unit: unit, Kind: kind, Labels: labels, Help: help}
	All = append(All, m)
	return m
}
