package document

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Tests is a file of tests of policies. Package policytest runs them; docs/policy.md describes the
// format.
type Tests struct {
	Documents []string       // files, relative to this one
	States    map[string]any // that the server's code registers
	Safe      []string       // functions that the code registers as safe
	Tenants   bool           // it registers tenants
	Coverage  float64        // the least share of branches that the tests reach, 0 to 1
	Mode      *policy.Mode   // of all policies, in place of the documents' modes; nil: those

	Seed        uint64 // Config.Seed; 1 if the file has none
	MaxFailures int    // Config.MaxFailures

	Tests []Test

	lines []string
}

// Test is one test: events on a time line.
type Test struct {
	Name   string
	Given  map[string]Placed // initial values by path; of a keyed state a map[string]any by key
	Events []TestEvent
	Line   int
	Col    int
}

// Placed is a value in a file of tests, with its place.
type Placed struct {
	Value     any
	Line, Col int
}

func placed(n *yaml.Node, v any) Placed { return Placed{v, n.Line, n.Column} }

// TestEvent is a notification that the policies receive, Times times.
type TestEvent struct {
	At, Every time.Duration // since the start of the test; between repetitions
	Times     int           // at least 1
	On        stubs.Event
	Custom    string            // the name of a custom event
	Given     map[string]Placed // values of stubs from now on
	Want      TestWant
	Line, Col int
}

// TestWant is the expected result of an event. A nil field allows any result.
type TestWant struct {
	TestDecision               // of the policies that enforce
	Observed     *TestDecision // of the policies that observe
	Error        string        // expected in each evaluation
	Asked        *[]string     // the policies evaluated each time; nil: at least one
	Off          *[]string     // the policies that are out of force afterwards
}

// TestDecision is the expected decision of policies. A nil field allows any.
type TestDecision struct {
	Verdict *string           // of each time: continue(), switch() or throw("reason")
	Policy  string            // that gives the verdict; "": any
	Effects *[]string         // of each time, in their order: set("n", 3), rank(5ms)
	Counts  map[string]int    // how often which verdict is given in all
	States  map[string]Placed // afterwards, by name; "POLICY.NAME" of an ambiguous private one
}

// Any reports whether w has an expectation.
func (w TestWant) Any() bool {
	return w.Verdict != nil || w.Policy != "" || w.Effects != nil || w.Counts != nil || w.States != nil || w.Observed != nil ||
		w.Error != "" || w.Asked != nil || w.Off != nil
}

// MaxRepeats is the greatest TestEvent.Times.
const MaxRepeats = 1_000_000

// ReadTests reads a file of tests. It is as strict as Read.
func ReadTests(r io.Reader) (*Tests, error) {
	lines, root, err := readSource(r)
	if err != nil {
		return nil, err
	}
	t := &Tests{lines: lines, Seed: 1, MaxFailures: policy.DefaultMaxFailures}
	err = decodeMap(root, "a file of tests", []key{
		{name: "version", required: true, read: readVersion},
		{name: "documents", required: true, read: func(n *yaml.Node) error { return readStrings(n, "documents", &t.Documents) }},
		{name: "states", read: func(n *yaml.Node) (err error) {
			t.States, err = readStateValues(n, "states", registeredState)
			return err
		}},
		{name: "safe", read: func(n *yaml.Node) error { return readStrings(n, "safe", &t.Safe) }},
		{name: "tenants", read: func(n *yaml.Node) error { return readBool(n, &t.Tenants) }},
		{name: "mode", read: func(n *yaml.Node) error { t.Mode = new(policy.Mode); return readMode(n, t.Mode) }},
		{name: "seed", read: func(n *yaml.Node) error { return readSeed(n, &t.Seed) }},
		{name: "max_failures", read: func(n *yaml.Node) error { return readCount(n, "max_failures", &t.MaxFailures) }},
		{name: "coverage", read: func(n *yaml.Node) error { return readShare(n, &t.Coverage) }},
		{name: "tests", required: true, read: t.readTests},
	})
	if err != nil {
		return nil, markIn(lines, err)
	}
	return t, nil
}

// Refused returns an error about the place in the file of tests.
func (t *Tests) Refused(line, col int, reason string) error {
	return markIn(t.lines, &Error{File: "document", Line: line, Col: col, Width: 1, Reason: reason})
}

// readSeed reads a seed other than 0, with which a server draws its seed.
func readSeed(n *yaml.Node, to *uint64) error {
	if err := leadingZero(n); err != nil {
		return err
	}
	if n.ShortTag() != "!!int" || n.Decode(to) != nil || *to == 0 {
		return lineError(n, "a seed is 1 to %d, and this is %s", uint64(math.MaxUint64), strings.TrimPrefix(nodeKind(n), "int "))
	}
	return nil
}

// readShare reads 90%.
func readShare(n *yaml.Node, to *float64) error {
	number, ok := strings.CutSuffix(n.Value, "%")
	f, err := strconv.ParseFloat(number, 64)
	if n.Kind != yaml.ScalarNode || !ok || err != nil || !(f >= 0 && f <= 100) {
		return lineError(n, "%s stands where a share is wanted; write it like 90%%", nodeKind(n))
	}
	*to = f / 100
	return nil
}

func (t *Tests) readTests(n *yaml.Node) error {
	items, err := sequence(n, "tests")
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return lineError(n, "there are no tests")
	}
	first := map[string]int{}
	for _, item := range items {
		test := Test{Line: item.Line, Col: item.Column}
		err := decodeMap(item, "a test", []key{
			{name: "name", required: true, read: func(n *yaml.Node) error { return readString(n, &test.Name) }},
			{name: "given", read: func(n *yaml.Node) (err error) { test.Given, err = readGiven(n); return err }},
			{name: "events", required: true, read: func(n *yaml.Node) (err error) { test.Events, err = readTestEvents(n); return err }},
		})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(test.Events, func(e TestEvent) bool { return e.Want.Any() }) {
			return lineError(item, "the test expects nothing; write expect: continue() or another verdict behind an event")
		}
		if line, twice := first[test.Name]; twice {
			return lineError(item, "there is another test %q, in line %d", test.Name, line)
		}
		first[test.Name] = item.Line
		t.Tests = append(t.Tests, test)
	}
	return nil
}
