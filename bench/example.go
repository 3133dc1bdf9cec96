package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// example runs an example that has been built, and returns what it prints for each of its modes.
func example[Figures any](ctx context.Context, r *report, program string, flags ...string) (all []Figures, err error) {
	args := append([]string{"-json"}, flags...)
	if n := r.otherCores(); n != 0 {
		args = append(args, "-cpus", strconv.Itoa(n))
	}
	cmd := exec.CommandContext(ctx, program, args...)
	// It ends its children, and removes its files.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 15 * time.Second
	cmd.Dir = ".." // where users run it
	cmd.Stderr = r.stderr
	name := filepath.Base(program)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s -json: %w", name, err)
	}
	for line := range bytes.Lines(out) {
		var f Figures
		if err := json.Unmarshal(line, &f); err != nil {
			return nil, fmt.Errorf("%s -json printed %q: %w", name, line, err)
		}
		all = append(all, f)
	}
	return all, nil
}
