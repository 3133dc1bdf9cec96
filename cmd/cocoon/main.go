// Command cocoon is the tool for users of Cocoon. It builds programs with safe points in unmodified
// code, and checks and explains policies before a server loads them.
package main

import (
	"fmt"
	"io"
	"os"
	_ "time/tzdata" // a document is checked where there is no database of time zones, too
)

// Exit codes of all verbs.
const (
	exitOK    = 0
	exitFound = 1 // the verb did its work and found errors
	exitUsage = 2 // wrong use, or unreadable input
)

// streams are the standard streams of a verb.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// verb is one subcommand. Its files begin with its name; build.go also has run, test and toolexec.
type verb struct {
	name, summary string
	run           func(args []string, s streams) int
}

var verbs = []verb{
	{"build", "go build, with safe points in the chosen packages", goVerb("build")},
	{"run", "go run, the same way", goVerb("run")},
	{"test", "go test, the same way", goVerb("test")},
	{"gaps", "find code that cocoon build leaves without safe points", runGaps},
	{"policy", "check, explain, test, compare and format policies", runPolicy},
	{"guest", "run and meter WebAssembly guests", runGuest},
	{"why", "what happened around a stall: reads a file of the flight recorder", runWhy},
	{"top", "what a running server does: reads the page of package cocoondebug", runTop},
	{"toolexec", "what build has the go command run; not to be called otherwise", runToolexec},
}

func main() {
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// run runs one command line and returns its exit code.
func run(args []string, s streams) int {
	if len(args) == 0 {
		usage(s.err)
		return exitUsage
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		usage(s.out)
		return exitOK
	}
	for _, v := range verbs {
		if v.name == args[0] {
			return v.run(args[1:], s)
		}
	}
	fmt.Fprintf(s.err, "cocoon: there is no verb %q; run cocoon -h for the list\n", args[0])
	return exitUsage
}

func usage(w io.Writer) {
	fmt.Fprint(w, "usage: cocoon VERB ...\n\nverbs:\n")
	for _, v := range verbs {
		fmt.Fprintf(w, "  %-10s %s\n", v.name, v.summary)
	}
	fmt.Fprint(w, "\ncocoon VERB -h tells more. Exit codes: 0 all is well, 1 errors were found, 2 wrong use.\n")
}
