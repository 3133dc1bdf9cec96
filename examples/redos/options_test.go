package main

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

func TestBadCommandLines(t *testing.T) {
	t.Chdir(t.TempDir()) // without a file of cases
	for line, want := range map[string]string{
		"-cases -1":              "1 to 13, or 0",
		"-cases 14":              "1 to 13, or 0",
		"-cases-file none.json":  "-cases-file: ",
		"-ping-rate NaN":         "-ping-rate NaN",
		"-ping-rate 0":           "1 to 100000",
		"-attack-rate 0":         "0.1 to 10000",
		"-attack-rate Inf":       "0.1 to 10000",
		"-modes plain,fast":      `no mode is named "fast"; there are idle`,
		"-cpus 0":                "-cpus 0: ",
		"more":                   `argument "more"`,
		"-cases-file . -cases 1": "-cases-file: ",
		"-records 5":             "-records",
	} {
		if _, err := parse(strings.Fields(line), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v; want one with %q", line, err, want)
		}
	}
}

func TestCasesOfTheCommandLine(t *testing.T) {
	t.Chdir(t.TempDir())
	o, err := parse([]string{"-cases", "3"}, io.Discard)
	if err != nil || len(o.cases) != 3 || o.casesFile != "" || len(o.Notes) == 0 || !strings.Contains(o.Notes[0], "built-in") {
		t.Errorf("without a file: %+v, %v; want 3 built-in cases and a note", o, err)
	}
	path := writeCases(t, `[{"name": "n", "pattern": "a", "pump": "a", "repeat": 1}]`)
	o, err = parse([]string{"-cases-file", path}, io.Discard)
	if err != nil || len(o.cases) != 1 || o.casesFile != path {
		t.Errorf("with a file: %+v, %v", o, err)
	}
}

func TestHelp(t *testing.T) {
	var text strings.Builder
	if _, err := parse([]string{"-h"}, &text); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	for _, want := range append(strings.Split(loadtest.ModeNames(modes), ","), "-cases", "-cases-file", "-ping-rate", "-attack-rate", "-cpus", "-json", "cocoon run") {
		if !strings.Contains(text.String(), want) {
			t.Errorf("-h does not tell of %s", want)
		}
	}
}
