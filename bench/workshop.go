package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// workshop is a folder in which the programs of a section are built, and which is removed with it.
type workshop struct {
	folder string
	report *report
	cocoon string // the path of the cocoon command
}

func openWorkshop(r *report) (*workshop, error) {
	folder, err := os.MkdirTemp("", "cocoon-bench-")
	return &workshop{folder: folder, report: r}, err
}

func (w *workshop) close() { os.RemoveAll(w.folder) }

// buildCocoon builds this repository's command.
func (w *workshop) buildCocoon(ctx context.Context) error {
	w.report.progress("cocoon: building")
	w.cocoon = filepath.Join(w.folder, "cocoon")
	// go run -C bench runs here.
	if _, err := output(ctx, "..", "go", "build", "-o", w.cocoon, "./cmd/cocoon"); err != nil {
		return fmt.Errorf("above the working directory (run with go run -C bench .): %w", err)
	}
	return nil
}

// buildExample builds an example in the module of the given folder, and returns the path of the
// program.
func (w *workshop) buildExample(ctx context.Context, folder, pkg string) (program string, err error) {
	program = filepath.Join(w.folder, "example")
	// go run -C bench runs here.
	if _, err := output(ctx, filepath.FromSlash(folder), "go", "build", "-o", program, pkg); err != nil {
		return "", fmt.Errorf("in %s (run with go run -C bench .): %w", folder, err)
	}
	return program, nil
}

// output runs a command in a folder and returns its output. An error includes the command's
// message.
func output(ctx context.Context, folder, name string, args ...string) ([]byte, error) {
	return outputWith(ctx, nil, folder, name, args...)
}

// outputWith is output with additional environment variables.
func outputWith(ctx context.Context, env []string, folder, name string, args ...string) ([]byte, error) {
	out, _, err := runWith(ctx, env, folder, name, args...)
	return out, err
}

// runWith is outputWith, and also returns the state of the ended process.
func runWith(ctx context.Context, env []string, folder, name string, args ...string) ([]byte, *os.ProcessState, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(cmd.Environ(), env...)
	cmd.Dir = folder
	// The go command removes its unfinished output.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 15 * time.Second
	out, err := cmd.Output()
	if err == nil {
		return out, cmd.ProcessState, nil
	}
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	said := out
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && len(exit.Stderr) > 0 {
		said = exit.Stderr
	}
	return nil, nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, said)
}
