package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestExperiment: with the policies, mallory's scripts are thrown into, and the others run.
func TestExperiment(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	tenants, err := experiment{mode: modes[1], language: forth(), duration: time.Second}.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tenants {
		if hostile := x.name == "mallory"; hostile != (len(x.latencies) == 0) || hostile && x.throws == 0 {
			t.Errorf("%s: %d scripts have ended, %d were thrown into", x.name, len(x.latencies), x.throws)
		}
	}
	var out bytes.Buffer
	print(&out, modes[1], tenants)
	for _, want := range []string{"with policies.yaml:", "share asked", "mallory", "16.7%"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q: %s", want, out.String())
		}
	}
}

// TestRealGuests: scripts in JavaScript and SQL, if the guests are there.
func TestRealGuests(t *testing.T) {
	folder := os.Getenv("COCOON_GUESTS")
	if folder == "" {
		t.Skip("COCOON_GUESTS is not set; guest/testdata/guests/README.md says how to get the guests")
	}
	var out bytes.Buffer
	args := []string{"-duration", "1s", "-quickjs", filepath.Join(folder, "quickjs.wasm"), "-sqlite", filepath.Join(folder, "sqlite.wasm")}
	if err := run(t.Context(), args, &out, io.Discard); err != nil || !strings.Contains(out.String(), "in JavaScript, silver's in SQL, 2 slots") {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestUse(t *testing.T) {
	for args, want := range map[string]string{
		"x":                     `"x" is not a flag`,
		"-duration 1ms":         "-duration 1ms; want at least 100ms",
		"-duration x":           "invalid value",
		"-quickjs nothing.wasm": "-quickjs: open nothing.wasm",
		"-sqlite nothing.wasm":  "-sqlite: open nothing.wasm",
	} {
		if err := run(t.Context(), strings.Fields(args), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", args, err, want)
		}
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, io.Discard, &out); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), "-quickjs") {
		t.Errorf("-h: %v, %s", err, out.String())
	}
}

// TestInterrupted: the experiment ends at once when its context does.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if err := run(ctx, []string{"-duration", "1h"}, io.Discard, io.Discard); err == nil || time.Since(begin) > 20*time.Second {
		t.Errorf("interrupted: %v after %v", err, time.Since(begin))
	}
}
