package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
)

// root is the root of the repository: go run -C bench starts the program in bench.
const root = ".."

// picture is a plot of the results of one section.
type picture struct {
	file, section string
	draw          func(results []result) (*plot.Plot, error)
}

var pictures = []picture{
	{"hol.svg", "hol", drawHOL},
	{"throws.svg", "micro", drawThrows},
	{"quantum.svg", "quantum", drawQuantum},
	{"overload.svg", "overload", drawOverload},
}

// plotted returns the names of the sections that have a plot.
func plotted() (names []string) {
	for _, p := range pictures {
		names = append(names, p.section)
	}
	return names
}

// drawable returns the sections that have a plot, at least one.
func drawable(chosen []section) ([]section, error) {
	kept := slices.DeleteFunc(slices.Clone(chosen), func(s section) bool { return !slices.Contains(plotted(), s.name) })
	if len(kept) == 0 {
		return nil, fmt.Errorf("-plot: no chosen section has a plot; choose of %s", strings.Join(plotted(), ", "))
	}
	return kept, nil
}

// drawAll draws the plots of the sections that have results, in a folder below the root of the
// repository, and returns the names of the files.
func drawAll(folder string, results []result) (files []string, err error) {
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(root, folder)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, fmt.Errorf("-plot: %w", err)
	}
	for _, p := range pictures {
		of := slices.DeleteFunc(slices.Clone(results), func(r result) bool { return r.Section != p.section })
		if len(of) == 0 {
			continue
		}
		drawing, err := p.draw(of)
		if err != nil {
			return files, fmt.Errorf("plot %s of section %s: %w", p.file, p.section, err)
		}
		file := filepath.Join(folder, p.file)
		if err := save(drawing, file); err != nil {
			return files, fmt.Errorf("-plot: %w", err)
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("-plot: there are no results of %s", strings.Join(plotted(), ", "))
	}
	return files, nil
}

// load reads results that a run with -json printed to a file below the root of the repository.
func load(file string) (results []result, err error) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(root, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("-from: %w", err)
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("-from %s, line %d: %w; want the output of -json", file, number, err)
		}
		results = append(results, r)
	}
	return results, nil
}

// find returns the result with a name and a metric.
func find(results []result, name, metric string) (result, error) {
	i := slices.IndexFunc(results, func(r result) bool { return r.Name == name && r.Metric == metric })
	if i < 0 {
		return result{}, fmt.Errorf("the results have no %s of %s", metric, name)
	}
	return results[i], nil
}
