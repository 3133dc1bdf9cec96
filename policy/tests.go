package policy

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/stubs"
)

// Tests is a file of tests of policies. Package policytest runs them; docs/policy.md describes the
// format.
type Tests struct {
	Documents []string       // files, relative to this one
	States    map[string]any // that the server's code registers
	Safe      []string       // functions that the code registers as safe
	Tenants   bool           // it registers tenants
	Seed      uint64         // of chance(p), as Config.Seed; 1 if the file has none
	Coverage  float64        // the least share of branches that the tests reach, 0 to 1
	Tests     []Test

	lines []string
}

// Test is one test: events on a time line.
type Test struct {
	Name   string
	Given  map[string]any // initial values by path; of a keyed state a map[string]any by key
	Events []TestEvent
	Line   int
	Col    int
}

// TestEvent is a notification that the policies receive, Times times.
type TestEvent struct {
	At, Every time.Duration // since the start of the test; between repetitions
	Times     int           // at least 1
	On        stubs.Event
	Custom    string         // the name of a custom event
	Given     map[string]any // values of stubs from now on
	Want      TestWant
	Line, Col int
}

// TestWant is the expected result of policies. A nil field allows any result.
type TestWant struct {
	Verdict *string        // of each time: continue(), switch() or throw("reason")
	Policy  string         // that gives the verdict; "": any
	Effects *[]string      // of each time, in their order: set("n", 3), rank(5ms)
	Counts  map[string]int // how often which verdict is given in all
	States  map[string]any // afterwards, by name; "POLICY.NAME" of an ambiguous private one
	Error   string         // expected in each evaluation
	Asked   *[]string      // the policies evaluated each time; nil: at least one
}

// Any reports whether w has an expectation.
func (w TestWant) Any() bool {
	return w.Verdict != nil || w.Policy != "" || w.Effects != nil || w.Counts != nil || w.States != nil || w.Error != "" || w.Asked != nil
}

// MaxRepeats is the greatest TestEvent.Times.
const MaxRepeats = 1_000_000

// ReadTests reads a file of tests. It is as strict as ReadDocument.
func ReadTests(r io.Reader) (*Tests, error) {
	lines, root, err := readSource(r)
	if err != nil {
		return nil, err
	}
	t := &Tests{lines: lines, Seed: 1}
	err = decodeMap(root, "a file of tests", []key{
		{name: "version", required: true, read: readVersion},
		{name: "documents", required: true, read: func(n *yaml.Node) error { return readStrings(n, "documents", &t.Documents) }},
		{name: "states", read: func(n *yaml.Node) (err error) {
			t.States, err = readStateValues(n, "states", registeredState)
			return err
		}},
		{name: "safe", read: func(n *yaml.Node) error { return readStrings(n, "safe", &t.Safe) }},
		{name: "tenants", read: func(n *yaml.Node) error { return readBool(n, &t.Tenants) }},
		{name: "seed", read: func(n *yaml.Node) error { return readSeed(n, &t.Seed) }},
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
	return markIn(t.lines, &DocumentError{File: "document", Line: line, Col: col, Width: 1, Reason: reason})
}

// readSeed reads a seed other than 0, which means no seed.
func readSeed(n *yaml.Node, to *uint64) error {
	var i int64
	if err := readInt(n, &i); err != nil {
		return err
	}
	if i < 1 {
		return lineError(n, "a seed is 1 or more, and this is %d", i)
	}
	*to = uint64(i)
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

func readTestEvents(n *yaml.Node) (events []TestEvent, err error) {
	items, err := sequence(n, "events")
	if err != nil {
		return nil, err
	}
	over := time.Duration(0)
	for _, item := range items {
		e, err := readTestEvent(item)
		if err != nil {
			return nil, err
		}
		if e.At < over {
			return nil, lineError(item, "the event at %v stands behind one at %v; write them in the order of time", e.At, over)
		}
		over = e.At + time.Duration(e.Times-1)*e.Every
		events = append(events, e)
	}
	return events, nil
}

func readTestEvent(n *yaml.Node) (e TestEvent, err error) {
	e = TestEvent{Times: 1, Line: n.Line, Col: n.Column}
	err = decodeMap(n, "an event", []key{
		{name: "at", required: true, read: func(n *yaml.Node) error { return readMoment(n, &e.At) }},
		{name: "on", read: func(n *yaml.Node) error { return readTestOn(n, &e.On) }},
		{name: "event", read: func(n *yaml.Node) error { e.On = stubs.Custom; return readString(n, &e.Custom) }},
		{name: "times", read: func(n *yaml.Node) error { return readTimes(n, &e.Times) }},
		{name: "every", read: func(n *yaml.Node) error { return readMoment(n, &e.Every) }},
		{name: "given", read: func(n *yaml.Node) (err error) { e.Given, err = readGiven(n); return err }},
		{name: "expect", read: func(n *yaml.Node) error { return e.Want.read(n) }},
	})
	switch {
	case err != nil:
		return e, err
	case e.On == 0:
		return e, lineError(n, "it is never told; say on: tick, enqueue, start, block, unblock, exit, leave or custom, or event: NAME")
	case e.Every > 0 && e.Times == 1:
		return e, lineError(n, "every needs times: how often it happens")
	case e.Every > 0 && time.Duration(e.Times) > (1<<62-e.At)/e.Every:
		return e, lineError(n, "it goes on for more than 146 years")
	}
	return e, nil
}

func readMoment(n *yaml.Node, to *time.Duration) error {
	if err := readDuration(n, to); err != nil {
		return err
	}
	if *to < 0 || *to > 1<<62 {
		return lineError(n, "%v is no time since the test began", *to)
	}
	return nil
}

func readTestOn(n *yaml.Node, to *stubs.Event) error {
	var name string
	if err := readString(n, &name); err != nil {
		return err
	}
	if *to = stubs.EventNamed(name); *to == 0 {
		return lineError(n, "there is no event %q; want tick, enqueue, start, block, unblock, exit, leave or custom", name)
	}
	return nil
}

func readTimes(n *yaml.Node, to *int) error {
	var i int64
	if err := readInt(n, &i); err != nil {
		return err
	}
	if i < 1 || i > MaxRepeats {
		return lineError(n, "times is 1 to %d, and this is %d", MaxRepeats, i)
	}
	*to = int(i)
	return nil
}
