package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A plot has no background, so that a page shows it in light and in dark. Its colours are of medium
// brightness: each has a contrast of at least 3 to both backgrounds (TestColours).
var (
	ink    = color.RGBA{0x76, 0x7b, 0x82, 0xff} // texts and axes
	faint  = color.RGBA{0x86, 0x8b, 0x92, 0xff} // lines of the grid, thin
	blue   = color.RGBA{0x3b, 0x82, 0xe0, 0xff} // Cocoon
	orange = color.RGBA{0xd9, 0x6c, 0x0a, 0xff} // plain Go
	green  = color.RGBA{0x2f, 0x96, 0x50, 0xff} // the ideal
	purple = color.RGBA{0x9a, 0x6c, 0xd6, 0xff} // another peer
)

const (
	width, height = 6.4 * vg.Inch, 3.4 * vg.Inch
	textSize      = 11
)

// newPlot returns an empty plot in the style of all plots.
func newPlot(title, x string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.Title.Text, p.X.Label.Text = title, x
	p.Title.Padding = vg.Points(10)
	p.Title.TextStyle.Font, p.Title.TextStyle.Color = face(textSize+1), ink
	p.Legend.TextStyle.Font, p.Legend.TextStyle.Color = face(textSize), ink
	// at the bottom right, below curves that rise
	p.Legend.XOffs, p.Legend.YOffs, p.Legend.Padding = -vg.Points(4), vg.Points(8), vg.Points(3)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Tick.Color = ink, ink
		axis.Label.TextStyle.Font, axis.Label.TextStyle.Color = face(textSize), ink
		axis.Tick.Label.Font, axis.Tick.Label.Color = face(textSize-1), ink
		axis.Label.Padding = vg.Points(4)
	}
	return p
}

// face is the font of all texts.
func face(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// stroke is the style of a line.
func stroke(c color.Color, width vg.Length, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width, Dashes: dashes}
}

// labels returns texts in one colour, each at an offset to its point.
func labels(points plotter.XYLabels, c color.Color, offset vg.Point) (*plotter.Labels, error) {
	l, err := plotter.NewLabels(points)
	if err != nil {
		return nil, err
	}
	for i := range l.TextStyle {
		l.TextStyle[i].Font, l.TextStyle[i].Color, l.TextStyle[i].YAlign = face(textSize), c, draw.YCenter
	}
	l.Offset = offset
	return l, nil
}

// milliseconds are the ticks of a logarithmic axis of times, at 1, 3, 10 and so on.
type milliseconds struct{}

func (milliseconds) Ticks(low, high float64) (ticks []plot.Tick) {
	for decade := math.Pow(10, math.Floor(math.Log10(low))); decade <= high; decade *= 10 {
		for _, v := range []float64{decade, 3 * decade} {
			if v >= low && v <= high {
				ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 4, 64) + " ms"})
			}
		}
	}
	return ticks
}

// save writes a plot as SVG. A page without the font of the plot's measures shows one like it.
func save(p *plot.Plot, file string) error {
	canvas := vgsvg.NewWith(vgsvg.UseWH(width, height))
	p.Draw(draw.Crop(draw.New(canvas), vg.Points(6), -vg.Points(12), vg.Points(4), -vg.Points(6)))
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	text := bytes.ReplaceAll(svg.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	return os.WriteFile(file, text, 0o666)
}
