// Package policytest runs tests of policies: files with the values of stubs, a sequence of events,
// and the expected decisions of the policies in a document. docs/policy.md describes the files.
//
// # In a Go test
//
//	func TestPolicies(t *testing.T) { policytest.Run(t, "policies_test.yaml") }
//
// [Run] reports failures to the test, and [File] returns them in a [Report]. The command cocoon
// policy test runs the same files.
//
// # Two evaluators
//
// Each evaluation runs twice, in the reference interpreter and in the compiled code that servers
// run, and both must agree.
package policytest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/policy/document"
)

// TB is the part of testing.TB that Run needs.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Run runs files of tests from a Go test.
func Run(t TB, files ...string) {
	t.Helper()
	for _, file := range files {
		r, err := File(file, Options{})
		if err != nil {
			t.Errorf("%+v", err)
			continue
		}
		for _, result := range r.Results {
			for _, f := range result.Failures {
				t.Errorf("%s", f)
			}
		}
		if r.Short() {
			t.Errorf("%s", r.Coverage)
		}
	}
}

// Options selects the tests to run, and how.
type Options struct {
	Only     *regexp.Regexp // of the names of tests; nil: all
	Coverage float64        // the least share of branches, 0 to 1; 0: from the file
}

// Report is the result of a file of tests. Its JSON form is for programs: field names are stable,
// and fields may be added.
type Report struct {
	File     string   `json:"file"`
	Results  []Result `json:"tests"`
	Coverage Coverage `json:"coverage"`
}

// Result is the result of one test.
type Result struct {
	Name     string    `json:"name"`
	Place    string    `json:"place"` // FILE:LINE:COLUMN
	Failures []Failure `json:"failures,omitempty"`
}

// Failed reports whether a test failed, or the tests reach too few branches.
func (r *Report) Failed() bool {
	for _, result := range r.Results {
		if len(result.Failures) > 0 {
			return true
		}
	}
	return r.Short()
}

// Short reports whether the tests reach too few branches.
func (r *Report) Short() bool { return r.Coverage.Share() < r.Coverage.Wanted }

// File runs the tests of a file. An error means that they cannot be run: a *document.Error
// about the file or about one of its documents, or an error of reading.
func File(file string, o Options) (*Report, error) {
	tests, err := read(file, func(f *os.File) (*document.Tests, error) { return document.ReadTests(f) })
	if err != nil {
		return nil, err
	}
	store, err := isolate.NewStore(context.Background())
	if err != nil {
		return nil, err
	}
	defer store.Close()
	s, err := newSuite(store, tests, file)
	if err != nil {
		return nil, err
	}
	r := &Report{File: file, Results: []Result{}}
	place := func(line, col int) string { return fmt.Sprintf("%s:%d:%d", file, line, col) }
	if unread := s.unread(tests.Tests); len(unread) > 0 {
		return nil, refusedAt(tests, file, unread)
	}
	for i := range tests.Tests {
		test := &tests.Tests[i]
		if o.Only != nil && !o.Only.MatchString(test.Name) {
			continue
		}
		failures, err := s.run(test, place)
		if err != nil {
			return nil, refusedAt(tests, file, []error{err})
		}
		r.Results = append(r.Results, Result{test.Name, place(test.Line, test.Col), failures})
	}
	r.Coverage = s.coverage()
	if err := s.untouched(); err != nil && o.Only == nil && !r.Failed() {
		return nil, refusedAt(tests, file, []error{&badTest{document.Placed{Line: tests.Tests[0].Line, Col: tests.Tests[0].Col}, err}})
	}
	if r.Coverage.Wanted = tests.Coverage; o.Coverage > 0 {
		r.Coverage.Wanted = o.Coverage
	}
	if o.Only != nil {
		r.Coverage.Wanted = 0 // a selection of the tests reaches only some of the branches
	}
	return r, nil
}

// refusals are errors about several places of a file. They print one below the other.
type refusals []error

func (r refusals) Error() string { return fmt.Sprintf("%v", r) }

func (r refusals) Unwrap() []error { return r }

// Format prints each error, with %+v over several lines.
func (r refusals) Format(f fmt.State, verb rune) {
	for i, err := range r {
		if i > 0 {
			io.WriteString(f, "\n")
		}
		fmt.Fprintf(f, fmt.FormatString(f, verb), err)
	}
}

// refusedAt returns errors with their places in the file of tests.
func refusedAt(tests *document.Tests, file string, all []error) error {
	var placed refusals
	for _, err := range all {
		var bad *badTest
		if errors.As(err, &bad) {
			err = document.InFile(tests.Refused(bad.at.Line, bad.at.Col, bad.Error()), file)
		}
		placed = append(placed, err)
	}
	if len(placed) == 1 {
		return placed[0]
	}
	return placed
}

// read opens and parses a file; errors name the file.
func read[T any](file string, parse func(*os.File) (T, error)) (t T, err error) {
	f, err := os.Open(file)
	if err != nil {
		return t, err
	}
	defer f.Close()
	if t, err = parse(f); err != nil {
		err = document.InFile(err, file)
	}
	return t, err
}

// documentPath returns the path of a document that a file names, relative to the file.
func documentPath(file, document string) string {
	if filepath.IsAbs(document) {
		return document
	}
	return filepath.Join(filepath.Dir(file), document)
}
