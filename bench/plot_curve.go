package main

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// curveLine is one curve of a plot of distributions.
type curveLine struct {
	name, metric string // of the result
	legend       string
	color        color.Color
	dashes       []vg.Length
}

// drawHOL draws the latency of gets in each mode.
func drawHOL(results []result) (*plot.Plot, error) {
	p := newPlot("Latency of gets while long scans run", "share of the gets that take no longer")
	return p, addCurves(p, results, loadtest.CurvePoints, []curveLine{
		{"plain", "get", "net/http", orange, nil},
		{"gomaxprocs", "get", "net/http, GOMAXPROCS=8", purple, nil},
		{"cocoon", "get", "Cocoon", blue, nil},
		{"idle", "get", "net/http without scans", green, []vg.Length{4, 3}},
	})
}

// drawThrows draws how late throws are. A round has some hundred throws, so the curves end at 99 %.
func drawThrows(results []result) (*plot.Plot, error) {
	p := newPlot("Time from a task's limit, with all slots busy", "share of the throws that take no longer")
	return p, addCurves(p, results, 2*8+1, []curveLine{
		{"throw", "late", "to the task's end", blue, nil},
		{"throw", "verdict_late", "to the verdict", green, nil},
	})
}

// addCurves adds the first points of curves to a plot, with their axes: shares by their nines, and
// milliseconds.
func addCurves(p *plot.Plot, results []result, points int, lines []curveLine) error {
	p.X.Tick.Marker = plot.ConstantTicks(nines(points))
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, milliseconds{}
	grid := plotter.NewGrid()
	grid.Vertical, grid.Horizontal = stroke(faint, 0.3), stroke(faint, 0.3)
	p.Add(grid)
	for _, l := range lines {
		r, err := find(results, l.name, l.metric)
		if err != nil {
			return err
		}
		if len(r.Curve) != loadtest.CurvePoints {
			return fmt.Errorf("the curve %s of %s has %d points; want %d", l.metric, l.name, len(r.Curve), loadtest.CurvePoints)
		}
		var xys plotter.XYs
		for i, us := range r.Curve[:points] {
			if us <= 0 {
				return fmt.Errorf("the curve %s of %s has the time %g µs; a logarithmic axis has no place for it", l.metric, l.name, us)
			}
			xys = append(xys, plotter.XY{X: float64(i), Y: us / 1e3})
		}
		line, err := plotter.NewLine(xys)
		if err != nil {
			return err
		}
		line.LineStyle = stroke(l.color, 2, l.dashes...)
		p.Add(line)
		p.Legend.Add(l.legend, line)
	}
	return nil
}

// nines are the ticks of an axis of shares: eight points for each nine.
func nines(points int) (ticks []plot.Tick) {
	for _, share := range []float64{0, 0.5, 0.9, 0.99, 0.999} {
		if at := -8 * math.Log10(1-share); at < float64(points)-0.5 {
			ticks = append(ticks, plot.Tick{Value: at, Label: strconv.FormatFloat(100*share, 'g', 3, 64) + " %"})
		}
	}
	return ticks
}
