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
		"-duration 1ms":       "100ms to 1h",
		"-get-rate NaN":       "-get-rate NaN",
		"-get-rate 0":         "1 to 100000",
		"-scan-rate -1":       "0 to 100000",
		"-scan-rate Inf":      "0 to 100000",
		"-modes plain,fast":   `no mode is named "fast"; there are idle`,
		"-cpus 0":             "-cpus 0: ",
		"-cpus 0:":            "-cpus 0:: ",
		"-cpus 1-0:0":         "-cpus 1-0:0: ",
		"-cpus 0:99999":       "-cpus 0:99999: ",
		"-cpus 0-999999999:0": "-cpus 0-999999999:0: ",
		"more":                `argument "more"`,
		"-records 5":          "-records",
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
	for _, want := range append(strings.Split(loadtest.ModeNames(modes), ","), "-duration", "-get-rate", "-scan-rate", "-cpus", "-json") {
		if !strings.Contains(text.String(), want) {
			t.Errorf("-h does not tell of %s", want)
		}
	}
}
