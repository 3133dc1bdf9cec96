package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// drawn are results with all that the plots need.
func drawn() (results []result) {
	curve := func(last float64) (points []float64) {
		for i := range loadtest.CurvePoints {
			points = append(points, 100*math.Pow(last/100, float64(i)/(loadtest.CurvePoints-1)))
		}
		return points
	}
	for i, mode := range holModes[:4] {
		results = append(results, result{Section: "hol", Name: mode, Metric: "get", Unit: "µs", Curve: curve(1000 * float64(i+1))})
	}
	results = append(results,
		result{Section: "micro", Name: "throw", Metric: "late", Unit: "µs", Curve: curve(700)},
		result{Section: "micro", Name: "throw", Metric: "verdict_late", Unit: "µs", Curve: curve(200)})
	names := []string{"none", "adaptive"}
	for _, q := range quanta {
		names = append(names, q.String())
	}
	for i, name := range names {
		results = append(results,
			result{Section: "quantum", Name: name, Metric: "short_p99", Value: 100 * float64(i+1), Unit: "µs"},
			result{Section: "quantum", Name: name, Metric: "long_work", Value: 800 + float64(i), Unit: "ms/s"})
	}
	for i, peer := range []string{"plain", "semaphore", "failsafe", "gozero"} {
		results = append(results, result{Section: "overload", Name: "cocoon", Metric: "goodput", Value: 300, Unit: "/s", Peer: peer, PeerValue: 100 + float64(i)})
	}
	return results
}

// TestPlots draws each plot from a file of results, as a document that names what it shows.
func TestPlots(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "results.json")
	var lines bytes.Buffer
	for _, r := range drawn() {
		if err := json.NewEncoder(&lines).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	if err := run(t.Context(), []string{"-plot", folder, "-from", file}, io.Discard, &stderr); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"hol.svg": {"Cocoon", "GOMAXPROCS=8", "99.9 %", "1 ms"}, "throws.svg": {"to the verdict", "99 %"},
		"quantum.svg": {"adaptive", "none", "30ms"}, "overload.svg": {"failsafe-go", "Cocoon", "300", "103"},
	} {
		svg, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !strings.Contains(stderr.String(), name) {
			t.Fatalf("%v; standard error is %q", err, &stderr)
		}
		if err := xml.Unmarshal(svg, new(struct{})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, text := range want {
			if !bytes.Contains(svg, []byte(text+"</text>")) {
				t.Errorf("%s has no text %q", name, text)
			}
		}
		for _, hex := range regexp.MustCompile(`#[0-9A-F]{6}`).FindAllString(string(svg), -1) {
			checkContrast(t, name, hex)
		}
	}
}

// checkContrast checks that a colour is visible on the page of a light and of a dark theme.
func checkContrast(t *testing.T, where, hex string) {
	t.Helper()
	var c color.RGBA
	if _, err := fmt.Sscanf(hex, "#%02X%02X%02X", &c.R, &c.G, &c.B); err != nil {
		t.Fatal(err)
	}
	for _, page := range []color.RGBA{{0xff, 0xff, 0xff, 0xff}, {0x0d, 0x11, 0x17, 0xff}} {
		a, b := luminance(c), luminance(page)
		if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 3 {
			t.Errorf("%s: the contrast of %s to the page %v is %.2g; want 3", where, hex, page, ratio)
		}
	}
}

// luminance is the relative luminance of WCAG 2.
func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

// TestPlotsNeedResults checks that no plot is drawn from results that lack something.
func TestPlotsNeedResults(t *testing.T) {
	for _, p := range pictures {
		of := slices.DeleteFunc(drawn(), func(r result) bool { return r.Section != p.section })
		if _, err := p.draw(of); err != nil {
			t.Errorf("%s: %v", p.file, err)
		}
		if _, err := p.draw(nil); err == nil {
			t.Errorf("%s was drawn from nothing", p.file)
		}
		for i := range of {
			if p.section == "overload" {
				break // a limiter more or less
			}
			if _, err := p.draw(slices.Delete(slices.Clone(of), i, i+1)); err == nil {
				t.Errorf("%s was drawn without %s of %s", p.file, of[i].Metric, of[i].Name)
			}
			of[i].Value, of[i].Curve = -1, make([]float64, loadtest.CurvePoints)
			if _, err := p.draw(of); err == nil && of[i].Metric != "long_work" {
				t.Errorf("%s was drawn with %s of %s below zero", p.file, of[i].Metric, of[i].Name)
			}
			of = slices.DeleteFunc(drawn(), func(r result) bool { return r.Section != p.section })
		}
	}
}

func TestPlotFlags(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "text.json")
	if err := os.WriteFile(text, []byte("{}\nno JSON\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(folder, "none.json")
	if err := os.WriteFile(none, []byte(`{"section":"http"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"-plot X -run fair":                "no chosen section has a plot; choose of hol, micro, quantum, overload",
		"-from results.json":               "-from needs -plot",
		"-plot X -from " + text + " -json": "-from needs -plot, and excludes",
		"-plot X -from " + text:            "text.json, line 2: invalid character",
		"-plot X -from missing.json":       "no such file",
		"-plot X -from " + none:            "there are no results of hol, micro",
	} {
		err := run(t.Context(), strings.Fields(strings.Replace(args, "X", folder, 1)), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v; want %q", args, err, want)
		}
	}
}

// TestPlotsAreShown checks that each plot is in docs/img and that a document shows it.
func TestPlotsAreShown(t *testing.T) {
	text, err := os.ReadFile(root + "/docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pictures {
		if _, err := os.Stat(root + "/docs/img/" + p.file); err != nil {
			t.Error(err)
		}
		if !bytes.Contains(text, []byte("(img/"+p.file+")")) {
			t.Errorf("docs/benchmarks.md does not show %s", p.file)
		}
	}
}
