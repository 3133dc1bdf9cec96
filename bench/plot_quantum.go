package main

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawQuantum draws what each quantum costs: the latency of short tasks and the work of long ones.
func drawQuantum(results []result) (*plot.Plot, error) {
	p := newPlot("Latency of short tasks (99th percentile) and work of long tasks, by quantum", "work of the long tasks, in ms a second")
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, milliseconds{}
	var fixed plotter.XYLabels
	for _, q := range quanta {
		if err := addPoint(&fixed, results, q.String()); err != nil {
			return nil, err
		}
	}
	var none, adaptive plotter.XYLabels
	if err := errors.Join(addPoint(&none, results, "none"), addPoint(&adaptive, results, "adaptive")); err != nil {
		return nil, err
	}
	line, err := plotter.NewLine(append(slices.Clone(fixed.XYs), none.XYs...))
	if err != nil {
		return nil, err
	}
	line.LineStyle = stroke(faint, 0.8, 3, 3)
	p.Add(line)
	for _, group := range []struct {
		points plotter.XYLabels
		glyph  draw.GlyphStyle
		above  vg.Length // the name
	}{
		{fixed, draw.GlyphStyle{Color: orange, Radius: 4, Shape: draw.CircleGlyph{}}, 6},
		// near to 30ms
		{none, draw.GlyphStyle{Color: orange, Radius: 4, Shape: draw.CircleGlyph{}}, -9},
		{adaptive, draw.GlyphStyle{Color: blue, Radius: 5.5, Shape: draw.CircleGlyph{}}, 0},
	} {
		points, err := plotter.NewScatter(group.points)
		if err != nil {
			return nil, err
		}
		points.GlyphStyle = group.glyph
		names, err := labels(group.points, group.glyph.Color, vg.Point{X: 8, Y: group.above})
		if err != nil {
			return nil, err
		}
		p.Add(points, names)
	}
	return p, nil
}

// addPoint adds the point of a quantum, with its name.
func addPoint(to *plotter.XYLabels, results []result, name string) error {
	work, err := find(results, name, "long_work")
	if err != nil {
		return err
	}
	late, err := find(results, name, "short_p99")
	if err != nil {
		return err
	}
	if late.Value <= 0 {
		return fmt.Errorf("short_p99 of %s is %g µs; a logarithmic axis has no place for it", name, late.Value)
	}
	to.XYs = append(to.XYs, plotter.XY{X: work.Value, Y: late.Value / 1e3})
	to.Labels = append(to.Labels, name)
	return nil
}
