package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

const policyUsage = `usage: cocoon policy check   [flags] FILE.yaml...
       cocoon policy explain [flags] FILE.yaml...
       cocoon policy check|explain [flags] -expr 'EXPRESSION' -on EVENTS | -every INTERVAL

check prints what is wrong with the policies of the documents, and warnings; explain tells as well what each
reads, what it can do and what it costs at most. The file - is the standard input.

  -expr 'EXPRESSION'  look at this expression instead of documents
  -on EVENTS          when it is evaluated: enqueue, start, block, unblock, exit, custom; joined by +
  -every INTERVAL     or how often, as in 100us
  -state NAME=TYPE    a state that the server registers: bool, int, float, duration, bytes or name; may be repeated
  -safe NAME          a function that the server registers as safe; may be repeated
  -tenants            the server registers tenants
  -cost STEPS         the limit of a policy's cost (default %d)
  -json               print a JSON array, one object a policy

Exit codes: 0 no errors (warnings are none), 1 errors were found, 2 wrong use or unreadable input.
`

// policyCommand is a parsed command line of the verb policy.
type policyCommand struct {
	explain bool
	json    bool
	expr    *policy.Spec // of -expr; nil: look at files
	files   []string
	cost    int
	states  map[string]stubs.Type
	safe    map[string]bool
	tenants bool
}

func runPolicy(args []string, s streams) int {
	c, err := parsePolicyCommand(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(s.out, policyUsage, analyzer.DefaultCost)
		return exitOK
	case err != nil:
		fmt.Fprintf(s.err, "cocoon policy: %v; run cocoon policy -h for help\n", err)
		return exitUsage
	}
	reports, err := c.reports(s.in)
	if err != nil {
		fmt.Fprintf(s.err, "cocoon policy: %v\n", err)
		return exitUsage
	}
	if c.json {
		e := json.NewEncoder(s.out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(reports); err != nil {
			fmt.Fprintf(s.err, "cocoon policy: %v\n", err)
			return exitUsage
		}
	} else {
		for _, r := range reports {
			r.print(s.out, c.explain)
		}
	}
	for _, r := range reports {
		if r.failed() {
			return exitFound
		}
	}
	return exitOK
}

func parsePolicyCommand(args []string) (*policyCommand, error) {
	c := &policyCommand{states: map[string]stubs.Type{}, safe: map[string]bool{}}
	if len(args) == 0 {
		return nil, errors.New("say check or explain")
	}
	switch args[0] {
	case "check":
	case "explain":
		c.explain = true
	case "-h", "-help", "--help", "help":
		return nil, flag.ErrHelp
	default:
		return nil, fmt.Errorf("%q is neither check nor explain", args[0])
	}
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
	fs.Func("safe", "", func(name string) error { c.safe[name] = true; return nil })
	if err := fs.Parse(args[1:]); err != nil {
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

// validate checks that what is given makes sense together.
func (c *policyCommand) validate(given map[string]bool) error {
	switch {
	case c.cost < 1:
		return fmt.Errorf("the cost limit %d is no number of steps; want 1 or more", c.cost)
	case !given["expr"] && (given["on"] || given["every"]):
		return errors.New("-on and -every go with -expr; a document says it itself")
	case !given["expr"] && len(c.files) == 0:
		return errors.New("name at least one document, or give -expr")
	case given["expr"] && len(c.files) > 0:
		return fmt.Errorf("either -expr or documents, and %s is one", c.files[0])
	case given["expr"] && given["on"] == given["every"]:
		return errors.New("-expr needs either -on or -every")
	}
	for _, file := range c.files {
		if file != "-" && strings.HasPrefix(file, "-") {
			return fmt.Errorf("%s stands behind a document; flags stand before", file)
		}
	}
	return nil
}

// parseEvents reads names joined by +.
func parseEvents(s string) (events stubs.Event, err error) {
	for name := range strings.SplitSeq(s, "+") {
		event := stubs.EventNamed(name)
		if event == 0 || event == stubs.Tick {
			return 0, fmt.Errorf("-on: there is no event %q; want enqueue, start, block, unblock, exit or custom", name)
		}
		events |= event
	}
	return events, nil
}

var stateTypes = map[string]stubs.Type{
	"bool": stubs.Bool, "int": stubs.Int, "float": stubs.Float, "duration": stubs.Duration, "bytes": stubs.Bytes, "name": stubs.Name,
}

// addState reads NAME=TYPE.
func (c *policyCommand) addState(s string) error {
	name, typ, ok := strings.Cut(s, "=")
	t, known := stateTypes[typ]
	if !ok || name == "" || !known {
		return errors.New("want NAME=TYPE, with bool, int, float, duration, bytes or name")
	}
	c.states[name] = t
	return nil
}
