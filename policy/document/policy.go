package document

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

func (d *documentReader) readStates(n *yaml.Node) (err error) {
	if d.doc.States, err = readStateValues(n, "states", registeredState); err != nil {
		return err
	}
	for i := 0; i < len(n.Content); i += 2 {
		d.doc.parts[Part{"state", n.Content[i].Value}] = declaration{node: n.Content[i]}
	}
	return nil
}

func (d *documentReader) readLimits(n *yaml.Node) error {
	items, err := sequence(n, "limits")
	if err != nil {
		return err
	}
	limits := make([]policy.TimeLimit, len(items))
	for i, item := range items {
		l := &limits[i]
		err := decodeMap(item, "a limit", []key{
			{name: "func", required: true, read: func(n *yaml.Node) error { return readString(n, &l.Func) }},
			{name: "limit", required: true, read: func(n *yaml.Node) error { return readDuration(n, &l.Limit) }},
			{name: "interval", read: func(n *yaml.Node) error { return readInterval(n, &l.Interval) }},
			{name: "reason", read: func(n *yaml.Node) error { return readReason(n, &l.Reason) }},
			{name: "mode", read: func(n *yaml.Node) error { return readMode(n, &l.Mode) }},
			{name: "force", read: func(n *yaml.Node) error { return readBool(n, &l.Force) }},
		})
		if err != nil {
			return err
		}
	}
	for i, item := range items {
		if limits[i].Func == Default && slices.ContainsFunc(limits, func(l policy.TimeLimit) bool { return lang.MatchesAll(l.Func) }) {
			return lineError(item, "%s and * mean the same; write one of them", Default)
		}
		s, err := specOf(limits, i)
		if err != nil {
			return lineError(item, "%v", err)
		}
		if lower := lowerLimit(limits, i); lower >= 0 {
			return lineError(item, "the limit %v of %q has no effect, because the limit %v of %q in line %d applies to all its tasks and sections; raise that one, or leave this one out",
				limits[i].Limit, limits[i].Func, limits[lower].Limit, limits[lower].Func, items[lower].Line)
		}
		if err := d.add(item, s, fmt.Sprintf("limit of %q", limits[i].Func)); err != nil {
			return err
		}
		if part := (Part{"policy", s.Name}); limits[i].Func == Default {
			limit := d.doc.parts[part]
			limit.match = &policy.Match{Tasks: []string{Default}}
			d.doc.parts[part] = limit
		}
	}
	return nil
}

// lowerLimit returns a limit that ends all tasks and sections of the limit i before i does; -1 if
// there is none. A limit that is only observed ends none.
func lowerLimit(limits []policy.TimeLimit, i int) int {
	l := limits[i]
	own, _ := lang.ParsePattern(l.Func)
	return slices.IndexFunc(limits, func(o policy.TimeLimit) bool {
		if o.Limit >= l.Limit || o.Mode != l.Mode || o.Func == l.Func || o.Func == Default || l.Func == Default || !strings.Contains(o.Func, "*") {
			return false // a name without a star is only about itself
		}
		p, _ := lang.ParsePattern(o.Func)
		return p.Covers(own)
	})
}

func readReason(n *yaml.Node, to *string) error {
	err := readString(n, to)
	if err == nil && *to == "" {
		err = lineError(n, "the reason is empty; leave it out for the name and the limit")
	}
	return err
}

func (d *documentReader) readPreemption(n *yaml.Node) error {
	var t policy.Trigger
	var mode policy.Mode
	err := decodeMap(n, "preemption", []key{
		{name: "mode", read: func(n *yaml.Node) error { return readMode(n, &mode) }},
		{name: "on", read: func(n *yaml.Node) error { return readEvents(n, &t, false) }},
		{name: "every", read: func(n *yaml.Node) error { return readInterval(n, &t.Interval) }},
	})
	if err != nil {
		return err
	}
	if t == (policy.Trigger{}) {
		return lineError(n, "preemption: it is never evaluated; write every or on")
	}
	s := policy.DefaultPreemption(t)
	s.Mode = mode
	return d.add(n, s, "preemption")
}

func (d *documentReader) readPolicies(n *yaml.Node) error {
	items, err := sequence(n, "policies")
	if err != nil {
		return err
	}
	specs, exprs := make([]policy.Spec, len(items)), make([]*yaml.Node, len(items))
	for i, item := range items {
		if specs[i], exprs[i], err = d.readPolicy(item); err != nil {
			return err
		}
	}
	written := make([]*policy.Match, len(items))
	for i, s := range specs {
		if slices.Contains(s.Match.Tasks, Default) {
			s.Match.Tasks = slices.Clone(s.Match.Tasks)
			written[i] = &s.Match
		}
	}
	if i, err := matchOthers(specs); err != nil {
		return lineError(items[i], "%v", err)
	}
	for i, item := range items {
		if err := d.add(item, specs[i], ""); err != nil {
			return err
		}
		d.doc.parts[Part{"policy", specs[i].Name}] = declaration{node: item, expr: exprs[i], match: written[i]}
	}
	return nil
}

func (d *documentReader) readPolicy(n *yaml.Node) (s policy.Spec, expr *yaml.Node, err error) {
	s.Zone = d.zone
	err = decodeMap(n, "a policy", []key{
		{name: "name", required: true, read: func(n *yaml.Node) error { return readString(n, &s.Name) }},
		{name: "every", read: func(n *yaml.Node) error { return readInterval(n, &s.On.Interval) }},
		{name: "on", read: func(n *yaml.Node) error { return readEvents(n, &s.On, true) }},
		{name: "event", read: func(n *yaml.Node) error { return readCustom(n, &s.On) }},
		{name: "expr", required: true, read: func(n *yaml.Node) error {
			expr = n
			if err := readString(n, &s.Expr); err != nil {
				return err
			}
			return checkSwallowed(d.doc.lines, n)
		}},
		{name: "mode", read: func(n *yaml.Node) error { return readMode(n, &s.Mode) }},
		{name: "match", read: func(n *yaml.Node) error { return readMatch(n, &s.Match) }},
		{name: "state", read: func(n *yaml.Node) (err error) {
			s.State, err = readStateValues(n, "state", privateState)
			return err
		}},
	})
	if err == nil && s.On == (policy.Trigger{}) {
		err = lineError(n, "policy %q: it is never evaluated; write every, on or event", s.Name)
	}
	return s, expr, err
}

// readInterval reads every: 100us.
func readInterval(n *yaml.Node, to *time.Duration) error {
	if err := readDuration(n, to); err != nil {
		return err
	}
	if *to < lang.MinInterval || *to > lang.MaxInterval {
		return lineError(n, "the interval %v is not between %v and %v", *to, lang.MinInterval, lang.MaxInterval)
	}
	return nil
}

// readEvents reads on: enqueue, or on: [enqueue, start]. custom reports whether event: NAME may stand
// in place of on.
func readEvents(n *yaml.Node, t *policy.Trigger, custom bool) error {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		var name string
		if err := readString(item, &name); err != nil {
			return err
		}
		event := stubs.EventNamed(name)
		if event == 0 || event == stubs.Tick {
			instead := ""
			switch {
			case event == stubs.Tick:
				instead = "; write every: and an interval"
			case custom:
				instead = fmt.Sprintf("; write event: %s, without on, for a custom event of that name", name)
			}
			return lineError(item, "there is no event %q; want enqueue, start, block, unblock, exit, leave or custom%s", name, instead)
		}
		t.Events |= event
	}
	return nil
}

// readCustom reads event: NAME.
func readCustom(n *yaml.Node, t *policy.Trigger) error {
	if err := readString(n, &t.Custom); err != nil {
		return err
	}
	if t.Custom == "" {
		return lineError(n, "the event's name is empty; write on: custom for all of them")
	}
	if t.Events != 0 {
		return lineError(n, "a policy has either on or event; event: %q is on: custom for that name alone, so leave on out or make two policies", t.Custom)
	}
	switch e := stubs.EventNamed(t.Custom); {
	case e == stubs.Tick:
		return lineError(n, "tick is an event of the runtime and no custom one; write every: and an interval")
	case e == stubs.Custom:
		return lineError(n, "custom is not the name of an event; write on: custom for all custom events")
	case e != 0:
		return lineError(n, "%s is an event of the runtime and no custom one; write on: %s", t.Custom, t.Custom)
	case strings.Contains(t.Custom, "*"):
		return lineError(n, "the name of an event is not a pattern; write on: custom, and event.name in pattern(%q) in the expression", t.Custom)
	}
	t.Events = stubs.Custom
	return nil
}

func readMode(n *yaml.Node, m *policy.Mode) error {
	var name string
	if err := readString(n, &name); err != nil {
		return err
	}
	mode, ok := policy.ModeNamed(name)
	if !ok {
		return lineError(n, "there is no mode %q; want enforce, observe or off", name)
	}
	*m = mode
	return nil
}

func readMatch(n *yaml.Node, m *policy.Match) error {
	return decodeMap(n, "match", []key{
		{name: "loops", read: func(n *yaml.Node) error { return readStrings(n, "loops", &m.Loops) }},
		{name: "tasks", read: func(n *yaml.Node) error { return readStrings(n, "tasks", &m.Tasks) }},
		{name: "except", read: func(n *yaml.Node) error { return readStrings(n, "except", &m.Except) }},
		{name: "kinds", read: func(n *yaml.Node) error { return readStrings(n, "kinds", &m.Kinds) }},
	})
}
