// Package gobuild runs the go command so that chosen packages are rewritten by package instrument
// on their way to the compiler. Nothing is written but into the go command's own temporary folder
// and build cache:
//
//   - The go command is told to start its tools through this program (-toolexec). Of those only the
//     compiler is of interest: it is given other files, which stand beside its output, and name the
//     originals in line directives.
//   - Which packages are rewritten is said by a flag that only this program understands, handed to
//     them by the go command itself (-gcflags=PATTERN=-cocoon=KEY). The key is of this program and
//     its options, so that the build cache holds each result apart, and shares all other packages
//     with plain builds.
//
// So modules, workspaces, vendoring, overlays, cgo, coverage, the race detector and cross-compiling
// are the go command's business, as they always were.
// docs/adr/0003-rewriting-in-front-of-the-compiler.md tells what else was tried.
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
)

// Command is one command line of the go command. Make it with Parse.
type Command struct {
	Verb     string   // build, run or test
	Policies []string // files of -cocoon.policies

	// Limited returns the names that a policy document limits. Those of functions become sections;
	// others do no harm.
	Limited func(file string) ([]string, error)

	// Tool is the command line that ends up in Toolexec: this program and its verb.
	Tool []string

	// Cache is a folder for what is worth remembering from one build to the next, "" for none.
	// Losing it costs time alone.
	Cache string

	Env            []string // beside this process's own
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	line     goLine
	patterns []string // of -cocoon.pkgs
	packages graph    // what list has returned
}

// Run runs the go command and returns its exit code. The error says why it did not come to that.
// Interrupts and terminations of this process go to the go command, whose end is waited for.
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

// start runs the go command to its end.
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
			_ = child.Process.Signal(s) // one that has ended needs none
		case err := <-ended:
			return exitCode(err)
		}
	}
}

// exitCode is that of the go command; one that was killed has none, and is 1.
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

// shellLine is the command line as -x shows it.
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
