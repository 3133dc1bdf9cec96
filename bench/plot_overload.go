package main

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// bar is the goodput of a limiter.
type bar struct {
	name    string
	goodput float64
}

// limiters are the names of the peers, by the name of the mode.
var limiters = map[string]string{"plain": "net/http", "failsafe": "failsafe-go", "gozero": "go-zero"}

// bars returns the goodput of Cocoon and of its peers, the highest last: the chart draws it on top.
func bars(results []result) (all []bar, err error) {
	for _, r := range results {
		if r.Metric != "goodput" {
			continue
		}
		if len(all) == 0 {
			all = append(all, bar{"Cocoon", r.Value})
		}
		all = append(all, bar{cmp.Or(limiters[r.Peer], r.Peer), r.PeerValue})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the results have no goodput")
	}
	slices.SortFunc(all, func(a, b bar) int { return cmp.Compare(a.goodput, b.goodput) })
	return all, nil
}

// drawOverload draws the goodput of a server at twice its capacity, behind each limiter.
func drawOverload(results []result) (*plot.Plot, error) {
	all, err := bars(results)
	if err != nil {
		return nil, err
	}
	p := newPlot("Twice the load that the server can take", "responses within 100 ms, a second")
	p.X.Min = 0
	p.X.Tick.Marker, p.X.Width, p.Y.Tick.Length, p.Y.Width = plot.ConstantTicks(nil), 0, 0, 0
	var names []string
	var ends plotter.XYLabels
	for i, b := range all {
		chart, err := plotter.NewBarChart(plotter.Values{b.goodput}, vg.Points(20))
		if err != nil {
			return nil, err
		}
		chart.Horizontal, chart.XMin, chart.LineStyle.Width, chart.Color = true, float64(i), 0, orange
		if b.name == "Cocoon" {
			chart.Color = blue
		}
		p.Add(chart)
		names = append(names, b.name)
		ends.XYs = append(ends.XYs, plotter.XY{X: b.goodput, Y: float64(i)})
		ends.Labels = append(ends.Labels, fmt.Sprintf("%.0f", b.goodput))
	}
	values, err := labels(ends, ink, vg.Point{X: 6})
	if err != nil {
		return nil, err
	}
	p.Add(values)
	p.NominalY(names...)
	return p, nil
}
