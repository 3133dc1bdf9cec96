package cocoondebug

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

//go:embed page.html
var pageFile embed.FS

// templates make all HTML. Package html/template escapes every text for its place. They are parsed
// when they are needed first, because that would be a part of the start of each program with this
// package.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.html").Funcs(functions).ParseFS(pageFile, "page.html"))
})

var functions = template.FuncMap{
	"ago":      ago,
	"color":    colorOf,
	"count":    count,
	"dur":      Duration,
	"indent":   func(depth int) string { return strings.Repeat("· ", min(depth, maxStack)) },
	"join":     strings.Join,
	"paths":    pathsOf,
	"percent":  func(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) },
	"polyline": polyline,
	"rate":     rate,
	"rows":     func(l Line) int { return max(1, len(l.Slots)) * rowHeight },
	"seconds":  func(l Line) string { return Duration(time.Duration(l.Samples) * l.Every) },
}

// page is the data of the templates.
type page struct {
	*Snapshot
	view
	Documents []string
	Content   template.HTML
}

// Orders are the orders of names that the page offers.
func (page) Orders() []Sort { return []Sort{ByCPU, ByWait, ByThrows} }

// Sorted returns the names in the chosen order.
func (p page) Sorted() []Name { return p.NamesBy(p.view.Sort) }

// Modes are the modes into which an operator may put a policy.
func (page) Modes() []string { return []string{"observe", "enforce"} }

// documentOf returns the whole page around its content.
func documentOf(p page, content []byte) ([]byte, error) {
	p.Content = template.HTML(content) // made by the template "content"
	return rendered("page", p)
}

// rendered returns the output of a template. Texts of clients may have control characters, which
// HTML lets through: a carriage return would end a line of a server-sent event, so that the text
// could send events of its own; an escape would reach the terminal of a reader without a browser;
// and marks of direction would turn the text around them. All of them become replacement
// characters.
func rendered(name string, data any) ([]byte, error) {
	var text bytes.Buffer
	err := templates().ExecuteTemplate(&text, name, data)
	return bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, text.Bytes()), err
}

// Duration formats a duration with three digits, as the page does.
func Duration(d time.Duration) string {
	switch unit := max(1, d.Abs()); {
	case unit >= 100*time.Second:
		d = d.Round(time.Second)
	case unit >= time.Second:
		d = d.Round(10 * time.Millisecond)
	case unit >= time.Millisecond:
		d = d.Round(10 * time.Microsecond)
	case unit >= time.Microsecond:
		d = d.Round(10 * time.Nanosecond)
	}
	return d.String()
}

// count formats a number in groups of three digits.
func count(n any) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}

func rate(perSecond float64) string { return strconv.FormatFloat(perSecond, 'f', 1, 64) + "/s" }

// ago says how long before the snapshot something was.
func ago(now, then time.Time) string {
	if d := now.Sub(then); d >= time.Second {
		return Duration(d.Truncate(100*time.Millisecond)) + " ago"
	}
	return "now"
}

// The time line is drawn in units of a sample and of pixels.
const rowHeight = 14

// stretch is what one color covers of a time line.
type stretch struct {
	Color int
	Path  string
}

// pathsOf returns the time line as one path for each color: thousands of elements would be slow.
func pathsOf(l Line, names []Name) []stretch {
	var paths [colors + 1]strings.Builder
	for row, spans := range l.Slots {
		for _, s := range spans {
			fmt.Fprintf(&paths[colorOf(l.Names[s[0]], names)], "M%d %dh%dv%dh-%dz", s[1], row*rowHeight+1, s[2]-s[1], rowHeight-2, s[2]-s[1])
		}
	}
	var all []stretch
	for color := range paths {
		if paths[color].Len() > 0 {
			all = append(all, stretch{color, paths[color].String()})
		}
	}
	return all
}

// colorOf returns the color of a name; 0 stands for all names without a color.
func colorOf(name string, names []Name) int {
	if i := slices.IndexFunc(names, func(n Name) bool { return n.Name == name }); i >= 0 {
		return names[i].Color
	}
	return 0
}

// polyline returns the points of a curve in a field of 200 by 30.
func polyline(values []int) string {
	most := max(1, slices.Max(append(slices.Clone(values), 0)))
	var points strings.Builder
	for i, v := range values {
		fmt.Fprintf(&points, "%.1f,%.1f ", 200*float64(i)/float64(max(1, len(values)-1)), 29-28*float64(v)/float64(most))
	}
	return points.String()
}
