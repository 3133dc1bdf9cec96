// Package gobuild runs the go command so that package instrument rewrites chosen packages before
// they reach the compiler. It writes only to the go command's own temporary folder and build cache:
//
//   - The go command starts its tools through this program (-toolexec). Only the compiler matters:
//     it gets different files, which are placed next to its output, and name the originals in line
//     directives.
//   - A flag that only this program understands marks the packages to rewrite, and the go command
//     itself passes the flag to them (-gcflags=PATTERN=-cocoon=KEY). The key identifies this
//     program and its options, so that the build cache keeps each result apart, and shares all
//     other packages with plain builds.
//
// So the go command handles modules, workspaces, vendoring, overlays, cgo, coverage, the race
// detector and cross-compiling as usual. docs/adr/0003-rewriting-in-front-of-the-compiler.md
// describes the alternatives that were tried.
package gobuild

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/cocoon-go/cocoon/internal/keep"
)

// Command is one command line of the go command. Parse creates it.
type Command struct {
	Verb     string   // build, run or test
	Policies []string // files of -cocoon.policies

	// Limited returns the names that a policy document limits. Functions with such names become
	// sections; other names have no effect.
	Limited func(file string) ([]string, error)

	// Kept returns the rules of a policy document for functions that a throw must not unwind.
	Kept func(file string) ([]keep.Rule, error)

	// Tool is the command line that leads to Toolexec: this program and its verb.
	Tool []string

	// Cache is a folder for results to keep from one build to the next, "" for none. Its loss costs
	// only time.
	Cache string

	Env            []string // in addition to this process's environment
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	line     goLine
	patterns []string // of -cocoon.pkgs
	keeps    []Keep   // of -cocoon.keep
	packages graph    // the result of list
}

// Run runs the go command and returns its exit code. If the go command could not be run, the error
// is the reason. Run passes interrupts and terminations of this process on to the go command, and
// waits for its end.
func (c *Command) Run(ctx context.Context) (code int, err error) {
	if err := hasGo(); err != nil {
		return 0, err
	}
	args, err := c.plan(ctx)
	if err != nil {
		return 0, err
	}
	if c.line.has("x") {
		fmt.Fprintln(c.Stderr, shellLine(append([]string{"go"}, args...)))
	}
	return c.start(args)
}

func hasGo() error {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("there is no go command on PATH; install Go from https://go.dev/dl, or add its bin folder to PATH")
	}
	return nil
}

// start runs the go command, and waits for its end.
func (c *Command) start(args []string) (code int, err error) {
	child := exec.Command("go", args...)
	child.Stdin, child.Stdout, child.Stderr = c.Stdin, c.Stdout, c.Stderr
	child.Env = append(child.Environ(), c.Env...)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := child.Start(); err != nil {
		return 0, fmt.Errorf("starting the go command: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = child.Process.Signal(s) // a process that has ended needs none
		case err := <-ended:
			return exitCode(err)
		}
	}
}

// exitCode returns the go command's exit code, or 1 if it was killed and has none.
func exitCode(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit):
		return max(exit.ExitCode(), 1), nil
	}
	return 0, fmt.Errorf("running the go command: %w", err)
}

// shellLine returns the command line as -x shows it.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$*?()[]<>|&;`#~!") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}
