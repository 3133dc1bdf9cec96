package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// result is one figure, and the same figure of a peer.
type result struct {
	Section   string  `json:"section"`
	Name      string  `json:"name"`
	Metric    string  `json:"metric"`
	Value     float64 `json:"value"`
	Unit      string  `json:"unit"`
	Peer      string  `json:"peer"` // "" without a peer
	PeerValue float64 `json:"peer_value"`
	Ratio     float64 `json:"ratio"`           // Value / PeerValue; 0 without a peer
	Cores     int     `json:"cores,omitempty"` // 0: the section's default number

	// Curve is a distribution, for a plot: a value for each loadtest.CurveShare. A result with a
	// Curve has no Value and no line in the table.
	Curve []float64 `json:"curve,omitempty"`
}

// claim is a condition on a result. The zero claim has none.
type claim struct {
	atLeast, atMost float64  // the ratio; 0: no bound
	plus            float64  // allowance beyond atMost times the peer's value, in the result's unit
	upTo            *float64 // the value, in the result's unit; nil: no bound
}

// upTo claims that a value is no greater than bound.
func upTo(bound float64) claim { return claim{upTo: &bound} }

// text formats the bounds for the table.
func (c claim) text(unit string) string {
	var bounds []string
	if c.upTo != nil {
		bounds = append(bounds, fmt.Sprintf("<= %g %s", *c.upTo, unit))
	}
	if c.atMost != 0 {
		bounds = append(bounds, "<= "+c.most(unit))
	}
	if c.atLeast != 0 {
		bounds = append(bounds, fmt.Sprintf(">= %gx", c.atLeast))
	}
	return strings.Join(bounds, ", ")
}

// most formats the bound atMost, with its allowance.
func (c claim) most(unit string) string {
	if c.plus == 0 {
		return fmt.Sprintf("%gx", c.atMost)
	}
	return fmt.Sprintf("%gx + %g %s", c.atMost, c.plus, unit)
}

// row is a line of the table.
type row struct {
	result
	bound, met string // "" without a claim
}

// report collects results: it prints JSON lines at once, a table at the end, and collects broken
// claims.
type report struct {
	stdout, stderr io.Writer
	json           bool
	section        section
	cores          int // the number of cores on which the section measures
	rows           []row
	curves         []result // the results with a curve
	broken         error
	writeErr       error
}

// begin begins a section, on the given number of cores, or with 0 on its default number.
func (r *report) begin(s section, cpus int) {
	r.section, r.cores = s, s.cores
	if s.cores != 0 && cpus != 0 {
		r.cores = cpus
	}
	r.progress("%s", s.about)
	if n := r.otherCores(); n != 0 {
		r.progress("cores: %d instead of %d", n, s.cores)
	}
}

// otherCores returns the number of cores if it is not the section's default, and otherwise 0.
func (r *report) otherCores() int {
	if r.cores == r.section.cores {
		return 0
	}
	return r.cores
}

// place returns the cores for a server and for its client: as many as -cpus says, or by default one
// each if there are two.
func (r *report) place() (loadtest.Placement, error) {
	flag := "auto"
	if r.otherCores() != 0 {
		flag = strconv.Itoa(r.cores)
	}
	p, note, err := loadtest.Place(flag)
	if note != "" {
		r.progress("%s", note)
	}
	return p, err
}

// progress reports what is being measured.
func (r *report) progress(format string, args ...any) {
	fmt.Fprintf(r.stderr, r.section.name+": "+format+"\n", args...)
}

// add completes a result with its section and ratio, and checks the claim.
func (r *report) add(got result, c claim) {
	got.Section, got.Cores = r.section.name, r.otherCores()
	if got.Peer != "" && got.PeerValue != 0 {
		got.Ratio = got.Value / got.PeerValue
	}
	broken := got.check(c)
	r.broken = errors.Join(r.broken, broken)
	line := row{result: got, bound: c.text(got.Unit)}
	switch {
	case broken != nil:
		line.met = "no"
	case line.bound != "":
		line.met = "yes"
	}
	r.rows = append(r.rows, line)
	r.print(got)
}

// addCurve completes a result with a curve.
func (r *report) addCurve(got result) {
	got.Section, got.Cores = r.section.name, r.otherCores()
	r.curves = append(r.curves, got)
	r.print(got)
}

// print prints a result as JSON, if the report is in JSON.
func (r *report) print(got result) {
	if r.json {
		r.writeErr = errors.Join(r.writeErr, json.NewEncoder(r.stdout).Encode(got))
	}
}

// results returns all results, including curves.
func (r *report) results() []result {
	var all []result
	for _, x := range r.rows {
		all = append(all, x.result)
	}
	return append(all, r.curves...)
}

// check returns an error for each bound that the result breaks.
func (got result) check(c claim) (broken error) {
	about := fmt.Sprintf("section %s: %s of %s is %.3g %s", got.Section, got.Metric, got.Name, got.Value, got.Unit)
	ratio := func(bound string) {
		broken = errors.Join(broken, fmt.Errorf("%s, %.3g times that of %s; claimed is %s", about, got.Ratio, got.Peer, bound))
	}
	measured := got.PeerValue != 0 // without a peer's value no claim about a ratio holds
	if c.atMost != 0 && !(measured && got.Value <= c.atMost*got.PeerValue+c.plus) {
		ratio("at most " + strings.Replace(c.most(got.Unit), "x", " times", 1))
	}
	if c.atLeast != 0 && !(measured && got.Ratio >= c.atLeast) {
		ratio(fmt.Sprintf("at least %g times", c.atLeast))
	}
	if c.upTo != nil && !(got.Value <= *c.upTo) {
		broken = errors.Join(broken, fmt.Errorf("%s; claimed is at most %g %s", about, *c.upTo, got.Unit))
	}
	return broken
}

// finish prints the table and returns the broken claims.
func (r *report) finish() error {
	if !r.json && len(r.rows) > 0 {
		w := tabwriter.NewWriter(r.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "SECTION\tNAME\tMETRIC\tVALUE\tPEER\tITS VALUE\tRATIO\tBOUND\tMET")
		for _, x := range r.rows {
			section, peer, ratio := x.Section, "", ""
			if x.Cores != 0 {
				section = fmt.Sprintf("%s, cores: %d", x.Section, x.Cores)
			}
			if x.Peer != "" {
				peer, ratio = fmt.Sprintf("%.4g %s", x.PeerValue, x.Unit), fmt.Sprintf("%.3g", x.Ratio)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%.4g %s\t%s\t%s\t%s\t%s\t%s\n",
				section, x.Name, x.Metric, x.Value, x.Unit, x.Peer, peer, ratio, x.bound, x.met)
		}
		r.writeErr = errors.Join(r.writeErr, w.Flush())
	}
	return errors.Join(r.writeErr, r.broken)
}
