package gobuild

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// toolLine returns the command line of this program for -toolexec.
func (c *Command) toolLine(chosen choice) []string {
	words := slices.Clone(c.Tool)
	if chosen.others {
		words = append(words, "-others")
	}
	if chosen.tested {
		words = append(words, "-tested")
	}
	for _, p := range chosen.patterns {
		words = append(words, "-package="+p)
	}
	return append(words, "--")
}

// shortcut is a script that gets the command line of this program. It runs this program for a
// compiler that gets different files, which has a flag of ours, and for all others the tool itself.
// The go command runs five tools in a build with nothing to do, only for their versions. A shell
// starts in a third of the time of this program.
const shortcut = `for a; do case $a in -cocoon*) exec "$@";; esac; done; ` +
	`while [ "$1" != -- ]; do shift; done; shift; exec "$@"`

// throughShell returns the command line with the shortcut, if the system has a shell.
func throughShell(words []string) []string {
	sh, err := exec.LookPath("/bin/sh")
	if err != nil || runtime.GOOS == "windows" {
		return words
	}
	return append([]string{sh, "-c", shortcut, "cocoon"}, words...)
}

// errNoTool is the error if a user calls the verb directly.
var errNoTool = errors.New("there is no tool to run; want cocoon build, which passes this verb to the go command as -toolexec")

// parseChoice removes the choice from the command line.
func parseChoice(args []string) (chosen choice, line []string, err error) {
	for i, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "-others":
			chosen.others = true
		case "-tested":
			chosen.tested = true
		case "-x":
			chosen.explains = true
		case "-package":
			chosen.patterns = append(chosen.patterns, value)
		case "--":
			if len(args) == i+1 {
				return chosen, nil, errNoTool
			}
			return chosen, args[i+1:], nil
		default:
			return chosen, nil, fmt.Errorf("there is no option %q; want cocoon build, which passes this verb to the go command as -toolexec", arg)
		}
	}
	return chosen, nil, errNoTool
}

// Toolexec runs one tool of the go command, and returns its exit code. A compiler that has the key
// gets different files. The others run without this program, if the system has a shell (see
// shortcut). If the tool could not be run, the error is the reason.
func Toolexec(args []string) (code int, err error) {
	chosen, line, err := parseChoice(args)
	if err != nil {
		return 0, err
	}
	c, ok := parseCompile(line)
	if !ok {
		return run(line)
	}
	words, mistaken, err := c.rewritten(chosen)
	if err != nil || mistaken {
		// The compiler's errors are better and familiar; their columns are right only in the
		// original text.
		if code, failed := run(c.original()); failed != nil || code != 0 {
			return code, failed
		}
	}
	if err != nil {
		return 0, err
	}
	said, code, err := c.build(words, chosen, capture)
	_, _ = os.Stdout.Write(said)
	return code, err
}

// run runs a tool as a child.
func run(words []string) (code int, err error) {
	tool := exec.Command(words[0], words[1:]...)
	tool.Stdin, tool.Stdout, tool.Stderr = os.Stdin, os.Stdout, os.Stderr
	return exitCode(tool.Run())
}

// isTool reports whether a word of a command line is the named tool of the Go distribution.
func isTool(word, name string) bool {
	return filepath.IsAbs(word) && strings.TrimSuffix(filepath.Base(word), ".exe") == name
}

// target returns the package that the go command builds, without a variant's " [p.test]".
func target() string {
	path, _, _ := strings.Cut(os.Getenv("TOOLEXEC_IMPORTPATH"), " ")
	return path
}
