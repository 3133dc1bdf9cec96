package document

import (
	"math"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/lang"
)

// Canary is how a document is tried: its policies get a share of the tasks, and the rest keep the
// policies of the document in force before.
type Canary struct {
	Share    float64 // of the tasks, 0 to 1
	By       string  // what is hashed: "task", "task.name", "tenant.name" or "task.labels.NAME"
	Rollback Rollback
}

// Rollback is when a canary ends by itself. A condition that is 0 is not given.
type Rollback struct {
	Given    bool          // the document has rollback
	Window   time.Duration // over which the figures are taken
	Throws   float64       // throws and refusals of the new versions per second
	Failed   float64       // by how much more of the canary's tasks fail, as a share of them
	Queueing float64       // how many times as long the canary's tasks wait, at the 99th percentile
}

// Bounds and defaults of a canary.
const (
	ByTask    = "task"
	ByName    = "task.name"
	ByTenant  = "tenant.name"
	ByLabel   = "task.labels." // and the name of a label
	minWindow = time.Second
	maxWindow = time.Hour
	usually   = time.Minute
)

// readCanary reads canary: {share: 0.1, by: task.labels.user, rollback: {throws: 5}}.
func (d *documentReader) readCanary(n *yaml.Node) error {
	c := Canary{By: ByTask, Rollback: Rollback{Window: usually}}
	err := decodeMap(n, "canary", []key{
		{name: "share", required: true, read: func(n *yaml.Node) error { return readNumber(n, "the share", 0, 1, &c.Share) }},
		{name: "by", read: func(n *yaml.Node) error { return readBy(n, &c.By) }},
		{name: "rollback", read: func(n *yaml.Node) error { return readRollback(n, &c.Rollback) }},
	})
	d.doc.Canary, d.doc.parts[Part{Kind: "canary"}] = &c, declaration{node: n}
	return err
}

func readBy(n *yaml.Node, to *string) error {
	if err := readString(n, to); err != nil {
		return err
	}
	label, ok := strings.CutPrefix(*to, ByLabel)
	switch {
	case *to == ByTask, *to == ByName, *to == ByTenant:
		return nil
	case !ok:
		return lineError(n, "a canary is not chosen by %q; want task, task.name, tenant.name, or task.labels. and the name of a label", *to)
	}
	if err := lang.CheckName("a label's name", label); err != nil {
		return lineError(n, "%v", err)
	}
	return nil
}

func readRollback(n *yaml.Node, r *Rollback) error {
	r.Given = true
	return decodeMap(n, "rollback", []key{
		{name: "window", read: func(n *yaml.Node) error { return readRollbackWindow(n, &r.Window) }},
		{name: "throws", read: func(n *yaml.Node) error { return readCondition(n, "throws", math.MaxInt32, &r.Throws) }},
		{name: "failed", read: func(n *yaml.Node) error { return readCondition(n, "failed", 1, &r.Failed) }},
		{name: "queueing", read: func(n *yaml.Node) error { return readCondition(n, "queueing", math.MaxInt32, &r.Queueing) }},
	})
}

func readRollbackWindow(n *yaml.Node, to *time.Duration) error {
	err := readDuration(n, to)
	if err == nil && (*to < minWindow || *to > maxWindow) {
		err = lineError(n, "the window %v is not between %v and %v", *to, minWindow, maxWindow)
	}
	return err
}

// readCondition reads a bound above 0: with 0, one task that happens to fail would end the canary.
func readCondition(n *yaml.Node, what string, most float64, to *float64) error {
	err := readNumber(n, what, 0, most, to)
	if err == nil && *to == 0 {
		err = lineError(n, "%s is 0; leave it out for no condition, or write a number above 0", what)
	}
	return err
}

// readNumber reads an int or a float of a range.
func readNumber(n *yaml.Node, what string, least, most float64, to *float64) error {
	if err := leadingZero(n); err != nil {
		return err
	}
	if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" || n.Decode(to) != nil {
		return lineError(n, "%s is %s; want a number", what, nodeKind(n))
	}
	if !(*to >= least && *to <= most) {
		return lineError(n, "%s is %v; want %v to %v", what, *to, least, most)
	}
	return nil
}

func canaryOf(d *Document) map[string]Canary {
	if d.Canary == nil {
		return nil
	}
	c := *d.Canary
	c.Rollback.Given = false // says nothing that its conditions do not
	return map[string]Canary{"": c}
}

func canaryDetails(_ string, a, b Canary) []string {
	var d differences
	d.add("share", a.Share, b.Share)
	d.add("by", a.By, b.By)
	d.add("rollback window", a.Rollback.Window, b.Rollback.Window)
	d.add("rollback throws", a.Rollback.Throws, b.Rollback.Throws)
	d.add("rollback failed", a.Rollback.Failed, b.Rollback.Failed)
	d.add("rollback queueing", a.Rollback.Queueing, b.Rollback.Queueing)
	return d
}

// NotOfCanary returns the first change from the document in force to d that a canary cannot make: a
// canary has policies of its own, and everything else belongs to all tasks. States that nothing in
// force refers to may be added.
func (d *Document) NotOfCanary(inForce *Document) (c Change, found bool) {
	for _, c := range Diff(inForce, d, nil) {
		switch {
		case c.Part.Kind == "policy", c.Part.Kind == "canary", c.Part.Kind == "state" && c.What == "add":
		default:
			return c, true
		}
	}
	return c, false
}
