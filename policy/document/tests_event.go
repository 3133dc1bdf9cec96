package document

import (
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/stubs"
)

// readTestEvents reads events, in the order of time.
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
	both := false
	err = decodeMap(n, "an event", []key{
		{name: "at", required: true, read: func(n *yaml.Node) error { return readMoment(n, &e.At) }},
		{name: "on", read: func(n *yaml.Node) error { return readTestOn(n, &e.On) }},
		{name: "event", read: func(n *yaml.Node) error {
			both, e.On = e.On != 0, stubs.Custom
			return readString(n, &e.Custom)
		}},
		{name: "times", read: func(n *yaml.Node) error { return readCount(n, "times", &e.Times) }},
		{name: "every", read: func(n *yaml.Node) error { return readMoment(n, &e.Every) }},
		{name: "given", read: func(n *yaml.Node) (err error) { e.Given, err = readGiven(n); return err }},
		{name: "expect", read: func(n *yaml.Node) error { return e.Want.read(n) }},
	})
	switch {
	case err != nil:
		return e, err
	case both:
		return e, lineError(n, "it has both on and event; say one of them")
	case e.On == 0:
		return e, lineError(n, "it is never told; say on: tick, enqueue, start, block, unblock, exit or leave, or event: NAME")
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
		return lineError(n, "%v is not a time since the test began", *to)
	}
	return nil
}

func readTestOn(n *yaml.Node, to *stubs.Event) error {
	var name string
	if err := readString(n, &name); err != nil {
		return err
	}
	switch *to = stubs.EventNamed(name); *to {
	case 0:
		return lineError(n, "there is no event %q; want tick, enqueue, start, block, unblock, exit or leave, or event: NAME of a custom event", name)
	case stubs.Custom:
		return lineError(n, "a custom event has a name; write event: NAME")
	}
	return nil
}

// readCount reads a number of events.
func readCount(n *yaml.Node, what string, to *int) error {
	var i int64
	if err := readInt(n, &i); err != nil {
		return err
	}
	if i < 1 || i > MaxRepeats {
		return lineError(n, "%s is 1 to %d, and this is %d", what, MaxRepeats, i)
	}
	*to = int(i)
	return nil
}
