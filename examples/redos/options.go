package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

const about = `Redos shows a server that survives evil regular expressions.

A net/http server compiles and matches patterns that its users supply, with
github.com/dlclark/regexp2, whose own timeout is off. A generator in another process
attacks it with patterns that blow up, and measures pings at times chosen in advance.
After each attack it sends a benign text for the same pattern. The modes, one after
another:

`

const after = `
"late" is how much longer than its limit a match ran that was stopped, as the server
saw it; pings count from their intended start. A client waits 2 s for a verdict. Benign
verdicts that are wrong, or do not come in that time, are "wrong benign".

Only a program with safe points in regexp2 can stop a match. Usage:

    go run ./cmd/cocoon run ./examples/redos [flags]

`

// defaultCases is the file of cases next to the repository.
const defaultCases = "../shared/data/redos/cases.json"

// options are the options of the command line.
type options struct {
	*loadtest.Command[mode]

	casesFile  string // "": the built-in cases
	cases      []evilCase
	pingRate   float64
	attackRate float64 // for each of the server's cores
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	o.Command = loadtest.NewCommand("redos", about, after, modes, stderr)
	flags := o.Flags
	flags.StringVar(&o.casesFile, "cases-file", "", "a JSON `file` with the cases (default "+defaultCases+", or else the built-in ones)")
	count := flags.Int("cases", 0, "attack with the first `N` cases only (0: all)")
	flags.Float64Var(&o.pingRate, "ping-rate", 500, "pings a second")
	flags.Float64Var(&o.attackRate, "attack-rate", 8, "attacks a second for each of the server's cores")
	if err := o.Parse(args); err != nil {
		return o, err
	}
	switch {
	case !(o.pingRate >= 1 && o.pingRate <= 100_000):
		return o, fmt.Errorf("-ping-rate %v; want 1 to 100000", o.pingRate)
	case !(o.attackRate >= 0.1 && o.attackRate <= 10_000):
		return o, fmt.Errorf("-attack-rate %v; want 0.1 to 10000", o.attackRate)
	}
	return o, o.readCases(*count)
}

// readCases reads the first count cases of the file, or all of them if count is 0. The default file
// need not exist.
func (o *options) readCases(count int) (err error) {
	given := o.casesFile != ""
	if !given {
		o.casesFile = filepath.FromSlash(defaultCases)
	}
	o.cases, err = readCases(o.casesFile)
	if !given && errors.Is(err, fs.ErrNotExist) {
		o.Notes = append(o.Notes, fmt.Sprintf("there is no file %s: the cases are the %d built-in ones", o.casesFile, len(builtIn)))
		o.casesFile = ""
		o.cases, err = readCases("")
	}
	switch {
	case err != nil:
		return fmt.Errorf("-cases-file: %w", err)
	case count < 0 || count > len(o.cases):
		return fmt.Errorf("-cases %d; want 1 to %d, or 0 for all", count, len(o.cases))
	case count > 0:
		o.cases = o.cases[:count]
	}
	return nil
}
