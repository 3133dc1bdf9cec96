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
	for line, want := range map[string]string{
		"-rounds 0":         "-rounds 0; want 1",
		"-warm-up 1ms":      "-warm-up 1ms; want 100ms",
		"-duration 2h":      "-duration 2h0m0s; want 100ms to 1h",
		"-surge NaN":        "-surge NaN; want 0.1",
		"-surge 1000":       "want 0.1 to 100",
		"-burst -1":         "-burst -1; want 0 to",
		"-modes plain,fast": `no mode is named "fast"; there are plain`,
		"-cpus 0":           "-cpus 0: ",
		"more":              `argument "more"`,
		"-seed 5":           "-seed",
	} {
		if _, err := parse(strings.Fields(line), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v; want one with %q", line, err, want)
		}
	}
}

func TestHelp(t *testing.T) {
	var text strings.Builder
	if _, err := parse([]string{"-h"}, &text); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	for _, want := range append(strings.Split(loadtest.ModeNames(modes), ","), "-rounds", "-warm-up", "-duration", "-surge", "-burst", "-cpus", "-json", "-page", "-folder") {
		if !strings.Contains(text.String(), want) {
			t.Errorf("-h does not tell of %s", want)
		}
	}
}
