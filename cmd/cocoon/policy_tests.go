package main

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/policytest"
)

const testUsage = `usage: cocoon policy test [flags] FILE_test.yaml...

test runs tests of policies: each gives values to stubs, tells the policies of its documents what happens when, and says
what they are expected to do. It evaluates by the reference interpreter and by the compiled code that servers run.

  version: 1
  documents: [shed.yaml]            # beside this file
  coverage: 90%                     # optional: the least share of branches that the tests reach
  tests:
    - name: a long queue is shed
      given: {queue.length: 501}    # what is not given is 0, false or ""; a deadline is none
      events:
        - {at: 0s, on: enqueue, expect: throw("busy")}
        - {at: 5ms, on: enqueue, given: {queue.length: 3}, expect: continue()}

  -run REGEXP        only the tests whose name it matches
  -coverage PERCENT  the least share of branches to reach, whatever the files say
  -v                 name each test, and each branch that none reaches
  -json              print a JSON array, one object a file
  -junit FILE        write a report as JUnit's XML too

docs/policy.md has all of the format. Exit codes: 0 all passed, 1 a test failed, too few branches are reached, or a file is
wrong, 2 wrong use or unreadable input.
`

// testCommand is a parsed command line of test.
type testCommand struct {
	policytest.Options
	files         []string
	verbose, json bool
	junit         string
}

// tested is the result of a file of tests: a report, or the reason why there is none.
type tested struct {
	*policytest.Report
	Error string `json:"error,omitempty"`
	story string
	took  time.Duration
}

func (t tested) failed() bool { return t.Error != "" || t.Report.Failed() }

func runPolicyTests(args []string, s streams) int {
	c, err := parsePolicyTests(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(s.out, testUsage)
		return exitOK
	case err != nil:
		fmt.Fprintf(s.err, "cocoon policy test: %v; run cocoon policy test -h for help\n", err)
		return exitUsage
	}
	all, code, ran := []tested{}, exitOK, 0
	for _, file := range c.files {
		t, err := c.test(file)
		if err != nil {
			fmt.Fprintf(s.err, "cocoon policy test: %v\n", err)
			return exitUsage
		}
		if all = append(all, t); t.failed() {
			code = exitFound
		}
		if ran += len(t.Results); !c.json && (len(t.Results) > 0 || t.Error != "") {
			t.print(s.out, c.verbose)
		}
	}
	if ran == 0 && code == exitOK {
		fmt.Fprintf(s.err, "cocoon policy test: no test has a name that matches -run %v, so none ran; without -run all run\n", c.Only)
		return exitUsage
	}
	if c.json {
		err = printJSON(s.out, all)
	}
	if c.junit != "" {
		err = errors.Join(err, writeJUnit(c.junit, all))
	}
	if err != nil {
		fmt.Fprintf(s.err, "cocoon policy test: %v\n", err)
		return exitUsage
	}
	return code
}

func parsePolicyTests(args []string) (*testCommand, error) {
	c := &testCommand{}
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.BoolVar(&c.verbose, "v", false, "")
	fs.BoolVar(&c.json, "json", false, "")
	fs.StringVar(&c.junit, "junit", "", "")
	fs.Func("run", "", func(s string) (err error) { c.Only, err = regexp.Compile(s); return err })
	fs.Func("coverage", "", func(s string) error {
		f, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
		if c.Coverage = f / 100; err != nil || !(f > 0 && f <= 100) {
			return errors.New("want a share above 0 and up to 100")
		}
		return nil
	})
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if c.files = fs.Args(); len(c.files) == 0 {
		return nil, errors.New("name at least one file of tests")
	}
	return c, checkFiles(c.files)
}

// test runs one file. The error is for input that cannot be read at all.
func (c *testCommand) test(file string) (tested, error) {
	begin := time.Now()
	r, err := policytest.File(file, c.Options)
	var wrong *document.Error
	if errors.As(err, &wrong) {
		return tested{&policytest.Report{File: file, Results: []policytest.Result{}}, err.Error(), fmt.Sprintf("%+v", err), time.Since(begin)}, nil
	}
	return tested{Report: r, took: time.Since(begin)}, err
}

// print writes the report as text.
func (t tested) print(w io.Writer, verbose bool) {
	if t.Error != "" {
		fmt.Fprintln(w, t.story)
		fmt.Fprintf(w, "FAIL  %s\n", t.File)
		return
	}
	failed := 0
	for _, r := range t.Results {
		if len(r.Failures) > 0 {
			failed++
		} else if verbose {
			fmt.Fprintf(w, "%s: %s: passed\n", r.Place, r.Name)
		}
		for _, f := range r.Failures {
			fmt.Fprintln(w, f)
		}
	}
	if verbose {
		for _, m := range t.Coverage.Missed {
			fmt.Fprintf(w, "%s: policy %q: never reached: %s\n", m.Place, m.Policy, m.Text)
		}
	}
	word := "ok   "
	if t.failed() {
		word = "FAIL "
	}
	fmt.Fprintf(w, "%s %s: %d of %d tests passed; %v\n", word, t.File, len(t.Results)-failed, len(t.Results), t.Coverage)
}

// The elements of JUnit reports on which their readers agree.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		Failure *junitReason `xml:"failure"`
		Error   *junitReason `xml:"error"`
	}
	junitReason struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

func writeJUnit(file string, all []tested) error {
	var doc junitSuites
	for _, t := range all {
		doc.Suites = append(doc.Suites, t.junit())
	}
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte(xml.Header), append(text, '\n')...), 0o666)
}

func (t tested) junit() junitSuite {
	s := junitSuite{Name: t.File, Time: fmt.Sprintf("%.3f", t.took.Seconds())}
	for _, r := range t.Results {
		c := junitCase{Name: r.Name, Class: t.File}
		if len(r.Failures) > 0 {
			var texts []string
			for _, f := range r.Failures {
				texts = append(texts, f.String())
			}
			c.Failure = &junitReason{r.Failures[0].What, strings.Join(texts, "\n")}
		}
		s.Cases = append(s.Cases, c)
	}
	switch {
	case t.Error != "":
		s.Cases = append(s.Cases, junitCase{Name: "reading", Class: t.File, Error: &junitReason{t.Error, t.story}})
		s.Errors++
	case t.Short():
		s.Cases = append(s.Cases, junitCase{Name: "coverage", Class: t.File, Failure: &junitReason{"too few branches are reached", t.Coverage.String()}})
	}
	for _, c := range s.Cases {
		if s.Tests++; c.Failure != nil {
			s.Failures++
		}
	}
	return s
}
