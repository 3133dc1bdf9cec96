package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
)

// result is one figure, and the same figure of a peer.
type result struct {
	Section   string  `json:"section"`
	Name      string  `json:"name"`
	Metric    string  `json:"metric"`
	Value     float64 `json:"value"`
	Unit      string  `json:"unit"`
	Peer      string  `json:"peer"` // "" when there is nothing to compare with
	PeerValue float64 `json:"peer_value"`
	Ratio     float64 `json:"ratio"` // Value / PeerValue; 0 without a peer
}

// claim is what a ratio must be. The zero claim claims nothing.
type claim struct{ atLeast, atMost float64 }

// report takes results as they come: it prints JSON lines at once, a table at the end, and collects broken claims.
type report struct {
	stdout, stderr io.Writer
	json           bool
	section        string
	results        []result
	broken         error
	writeErr       error
}

func (r *report) begin(s section) {
	r.section = s.name
	r.progress("%s", s.about)
}

// progress says what is being measured.
func (r *report) progress(format string, args ...any) {
	fmt.Fprintf(r.stderr, r.section+": "+format+"\n", args...)
}

// add completes a result with its section and ratio, and checks the claim.
func (r *report) add(got result, c claim) {
	got.Section = r.section
	if got.Peer != "" && got.PeerValue != 0 {
		got.Ratio = got.Value / got.PeerValue
	}
	r.results = append(r.results, got)
	measured := got.PeerValue != 0 // without a peer's value no claim holds
	if c.atMost != 0 && !(measured && got.Ratio <= c.atMost) {
		r.breaks(got, "at most", c.atMost)
	}
	if c.atLeast != 0 && !(measured && got.Ratio >= c.atLeast) {
		r.breaks(got, "at least", c.atLeast)
	}
	if r.json {
		r.writeErr = errors.Join(r.writeErr, json.NewEncoder(r.stdout).Encode(got))
	}
}

func (r *report) breaks(got result, bound string, limit float64) {
	r.broken = errors.Join(r.broken, fmt.Errorf("section %s: %s of %s is %.3g %s, %.3g times that of %s; claimed is %s %g times",
		got.Section, got.Metric, got.Name, got.Value, got.Unit, got.Ratio, got.Peer, bound, limit))
}

// finish prints the table and returns the broken claims.
func (r *report) finish() error {
	if !r.json && len(r.results) > 0 {
		w := tabwriter.NewWriter(r.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "SECTION\tNAME\tMETRIC\tVALUE\tPEER\tITS VALUE\tRATIO")
		for _, x := range r.results {
			peer, ratio := "", ""
			if x.Peer != "" {
				peer, ratio = fmt.Sprintf("%.4g %s", x.PeerValue, x.Unit), fmt.Sprintf("%.3g", x.Ratio)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%.4g %s\t%s\t%s\t%s\n", x.Section, x.Name, x.Metric, x.Value, x.Unit, x.Peer, peer, ratio)
		}
		r.writeErr = errors.Join(r.writeErr, w.Flush())
	}
	return errors.Join(r.writeErr, r.broken)
}
