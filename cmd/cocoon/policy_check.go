package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

const checkUsage = `usage: cocoon policy check   [flags] FILE.yaml...
       cocoon policy explain [flags] FILE.yaml...
       cocoon policy check|explain [flags] -expr 'EXPRESSION' -on EVENTS | -every INTERVAL

check prints what is wrong with the policies of the documents, and warnings, as FILE:LINE:COLUMN; explain tells as well
what each reads, what it can do and what it costs at most. Several documents are taken for those that one server loads,
in this order. The file - is the standard input.

  -expr 'EXPRESSION'  look at this expression instead of documents
  -on EVENTS          when it is evaluated: enqueue, start, block, unblock, exit, leave, custom; joined by +
  -every INTERVAL     or how often, as in 100us
  -state NAME=TYPE    a state that the server registers: bool, int, float, duration or bucket; may be repeated
  -state NAME[BY]=TYPE  the same, of a keyed state; BY is name, int or a pair as name,int; name if it is empty
  -safe NAME          a function that the server registers as safe; may be repeated
  -tenants            the server registers tenants
  -cost STEPS         a lower limit of a policy's cost than the server's, which is %d
  -json               print a JSON array, one object a policy

Exit codes: 0 no errors (warnings are none), 1 errors were found, 2 wrong use or unreadable input.
`

// checkCommand is a parsed command line of check or explain.
type checkCommand struct {
	explain bool
	json    bool
	expr    *policy.Spec // from -expr; nil: check files
	files   []string
	cost    int
	states  map[string]policy.State
	safe    map[string]bool
	tenants bool
}

func runCheck(explain bool) func(args []string, s streams) int {
	return func(args []string, s streams) int {
		c, err := parseCheck(args, explain)
		switch {
		case errors.Is(err, flag.ErrHelp):
			fmt.Fprintf(s.out, checkUsage, analyzer.DefaultCost)
			return exitOK
		case err != nil:
			fmt.Fprintf(s.err, "cocoon policy: %v; run cocoon policy check -h for help\n", err)
			return exitUsage
		}
		reports, note, err := c.reports(s.in)
		if err != nil {
			fmt.Fprintf(s.err, "cocoon policy: %v\n", err)
			return exitUsage
		}
		if !c.json {
			for _, r := range reports {
				r.print(s.out, c.explain)
			}
			fmt.Fprint(s.out, note)
		} else if err := printJSON(s.out, reports); err != nil {
			fmt.Fprintf(s.err, "cocoon policy: %v\n", err)
			return exitUsage
		}
		if slices.ContainsFunc(reports, report.failed) {
			return exitFound
		}
		return exitOK
	}
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func parseCheck(args []string, explain bool) (*checkCommand, error) {
	c := &checkCommand{explain: explain, states: map[string]policy.State{}, safe: map[string]bool{}}
	var expr, on string
	var every time.Duration
	fs := flag.NewFlagSet("policy", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&expr, "expr", "", "")
	fs.StringVar(&on, "on", "", "")
	fs.DurationVar(&every, "every", 0, "")
	fs.IntVar(&c.cost, "cost", analyzer.DefaultCost, "")
	fs.BoolVar(&c.tenants, "tenants", false, "")
	fs.BoolVar(&c.json, "json", false, "")
	fs.Func("state", "", c.addState)
	fs.Func("safe", "", c.addSafe)
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	c.files = fs.Args()
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if err := c.validate(given); err != nil || !given["expr"] {
		return c, err
	}
	c.expr = &policy.Spec{Name: "expr", Expr: expr, On: policy.Every(every)}
	if given["on"] {
		events, err := parseEvents(on)
		c.expr.On = policy.On(events)
		return c, err
	}
	return c, nil
}

// validate checks that the flags fit together.
func (c *checkCommand) validate(given map[string]bool) error {
	switch {
	case c.cost < 1 || c.cost > analyzer.DefaultCost:
		return fmt.Errorf("the cost limit %d is none that a server has; want 1 to %d steps", c.cost, analyzer.DefaultCost)
	case !given["expr"] && (given["on"] || given["every"]):
		return errors.New("-on and -every go with -expr; a document says it itself")
	case !given["expr"] && len(c.files) == 0:
		return errors.New("name at least one document, or give -expr")
	case given["expr"] && len(c.files) > 0:
		return fmt.Errorf("either -expr or documents, and %s is one", c.files[0])
	case given["expr"] && given["on"] == given["every"]:
		return errors.New("-expr needs either -on or -every")
	}
	return checkFiles(c.files)
}

// checkFiles rejects flags after files, and a file named twice.
func checkFiles(files []string) error {
	for i, file := range files {
		if file != "-" && strings.HasPrefix(file, "-") {
			return fmt.Errorf("%s comes after a document; write flags before documents", file)
		}
		if slices.Contains(files[:i], file) {
			return fmt.Errorf("%s is named twice", file)
		}
	}
	return nil
}

// parseEvents reads names joined by +.
func parseEvents(s string) (events stubs.Event, err error) {
	for name := range strings.SplitSeq(s, "+") {
		event := stubs.EventNamed(name)
		if event == 0 || event == stubs.Tick {
			return 0, fmt.Errorf("-on: there is no event %q; want enqueue, start, block, unblock, exit, leave or custom", name)
		}
		events |= event
	}
	return events, nil
}

// stateZeros are values of the types that a server's states can have. The settings of a bucket are
// unknown.
var stateZeros = map[string]any{"bool": false, "int": int64(0), "float": 0.0, "duration": time.Duration(0),
	"bucket": policy.Bucket{Rate: 1, Burst: policy.MaxBurst}}

// addState reads NAME=TYPE or NAME[BY]=TYPE.
func (c *checkCommand) addState(s string) error {
	name, typ, ok := strings.Cut(s, "=")
	zero, known := stateZeros[typ]
	if !ok || !known {
		return errors.New("want NAME=TYPE, or NAME[BY]=TYPE of a keyed state, with bool, int, float, duration or bucket")
	}
	name, by, keyed := strings.Cut(name, "[")
	if keyed {
		k := policy.Keyed{First: zero, Keys: 1}
		by, keyed = strings.CutSuffix(by, "]")
		if by != "" {
			k.By = strings.Split(by, ",")
		}
		if !keyed {
			return errors.New("a [ of the state's keys is never closed")
		}
		zero = k
	}
	if _, twice := c.states[name]; twice {
		return fmt.Errorf("state %q is given twice", name)
	}
	spec := policy.Spec{Name: "state", On: policy.Every(time.Second), State: map[string]any{name: zero}}
	if err := spec.Validate(); err != nil {
		return errors.Unwrap(err) // without the policy's name
	}
	c.states[name], _ = policy.StateOf(zero)
	return nil
}

func (c *checkCommand) addSafe(name string) error {
	if name == "" {
		return errors.New("the name of a function is empty")
	}
	c.safe[name] = true
	return nil
}
