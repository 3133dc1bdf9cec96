package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/gobuild"
	"github.com/cocoon-go/cocoon/internal/keep"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

const buildUsage = `usage: cocoon %[1]s [-cocoon.pkgs PATTERNS] [-cocoon.keep PATTERNS] [-cocoon.policies FILE.yaml] [arguments of go %[1]s]

It is go %[1]s, except that the chosen packages poll for preemption: at the heads of loops, and where calls may lead back
to a function. It changes no source file, and without a Cocoon runtime the program behaves as before.

A function whose time is limited, such as 'github.com/dlclark/regexp2.(*Regexp).FindStringMatch', becomes a section of that
name. The build looks for its name in the program's own packages: in constants, as in cocoon.TimeLimit{Func: "..."}, and in
policy documents with //go:embed.

  -cocoon.pkgs PATTERNS       the packages, as patterns of the go command with commas between them (default: the main
                              module and all third-party ones); those of the standard library only by name, as in
                              encoding/json or go/..., or std for those whose own tests pass with polls, see below
  -cocoon.keep PATTERNS       functions that a throw does not unwind, with commas between them: the throw waits until they
                              return; packages, as in gorm.io/gorm/..., or functions, as in PATH.Func or
                              PATH.(*Type).Method; =no-suspend after a pattern also forbids suspension there
  -cocoon.policies FILE.yaml  a policy document that the program reads from elsewhere; may be repeated

-x shows every command. -work keeps the rewritten files, in folders named cocoon. go help %[1]s describes the other
arguments. The exit code is that of the go command, or %[2]d if the go command could not be run.

std: %[3]s
`

// goVerb runs the go command's verb of the same name.
func goVerb(name string) func(args []string, s streams) int {
	return func(args []string, s streams) int {
		if len(args) == 1 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
			fmt.Fprintf(s.out, buildUsage, name, exitUsage, strings.Join(gobuild.Tested, " "))
			return exitOK
		}
		code, err := runGo(name, args, s)
		if err != nil {
			fmt.Fprintf(s.err, "cocoon %s: %v\n", name, err)
			return exitUsage
		}
		return code
	}
}

func runGo(verb string, args []string, s streams) (code int, err error) {
	c, err := goCommand(verb, args)
	if err != nil {
		return 0, err
	}
	c.Stdin, c.Stdout, c.Stderr = s.in, s.out, s.err
	return c.Run(context.Background())
}

// goCommand reads the arguments of a verb of the go command.
func goCommand(verb string, args []string) (*gobuild.Command, error) {
	c, err := gobuild.Parse(verb, args)
	if err != nil {
		return nil, fmt.Errorf("%w; run cocoon %s -h for help", err, verb)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	c.Tool, c.Limited, c.Kept = []string{program, "toolexec"}, limited, kept
	if dir, err := os.UserCacheDir(); err == nil {
		c.Cache = filepath.Join(dir, "cocoon")
	}
	return c, nil
}

// limited returns the names of the sections to which the policies of a document apply a time limit.
func limited(file string) (names []string, err error) {
	doc, err := readDocument(file, nil)
	if err != nil {
		return nil, err
	}
	states := map[string]policy.State{}
	for name, value := range doc.States {
		states[name], _ = policy.StateOf(value)
	}
	for _, spec := range doc.Policies {
		p, err := spec.Parse(states, nil)
		if err != nil {
			// It may need functions that the server registers. cocoon policy check reports its
			// errors.
			continue
		}
		for _, read := range p.Reads {
			if read.Stub == stubs.TaskSections && read.Pattern == "" && !slices.Contains(names, read.Key) {
				names = append(names, read.Key)
			}
		}
	}
	return names, nil
}

// kept returns the functions that a document keeps from being unwound.
func kept(file string) (rules []keep.Rule, err error) {
	doc, err := readDocument(file, nil)
	if err != nil {
		return nil, err
	}
	for _, k := range doc.NeverUnwind {
		rules = append(rules, keep.Rule{Pattern: k.Name, NoSuspend: k.NoSuspend})
	}
	return rules, nil
}

// runToolexec is the program that the go command runs for each of its tools.
func runToolexec(args []string, s streams) int {
	code, err := gobuild.Toolexec(args)
	if err != nil {
		fmt.Fprintf(s.err, "cocoon: %v\n", err)
		return exitUsage
	}
	return code
}
