package document

import (
	"fmt"
	"math"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
)

// Class holds the properties that a document gives all tasks of one name, or all tasks for which a
// pattern is the most specific entry. Whether they are background tasks is decided by a policy,
// which is among the document's policies.
type Class struct {
	Kind     string            // "atomic", "preemptible", "safe", "both" or "waits"; "": not given
	Priority *int32            // nil: not given
	Labels   map[string]string // none is empty
	Cost     time.Duration     // the expected running time; 0: not given
}

// Waits is a kind, in documents only, of tasks that wait most of their life without announcing it:
// event streams, websockets, long polls. They hold a slot only while they are observed to run.
const Waits = "waits"

// MaxTasks is the greatest number of task names in a document.
const MaxTasks = 4096

// readTasks reads tasks: each entry is a kind, or a mapping.
//
//	tasks:
//	  GET /items/{id}: safe
//	  backup: {kind: preemptible, background: true}
func (d *documentReader) readTasks(n *yaml.Node) error {
	if _, err := mapping(n, "tasks"); err != nil {
		return err
	}
	if many := len(n.Content) / 2; many > MaxTasks {
		return lineError(n, "tasks has %d names, and %d are allowed", many, MaxTasks)
	}
	var background, others []string
	for i := 0; i < len(n.Content); i += 2 {
		name, v := n.Content[i], n.Content[i+1]
		if err := lang.CheckName("a task's name", name.Value); err != nil {
			return lineError(name, "%v", err)
		}
		class, last, err := readClass(v)
		if err != nil {
			return err
		}
		text := name.Value
		if text == Default {
			text = "*"
		}
		if err := lang.CheckPattern("a task's name", text); err != nil {
			return lineError(name, "%v", err)
		}
		if _, twice := d.doc.Tasks[text]; twice {
			return lineError(name, "%s and * mean the same; write one of them", Default)
		}
		d.doc.Tasks[text], d.doc.parts[Part{"task", text}] = class, declaration{node: name, title: fmt.Sprintf("task %q", name.Value)}
		if last {
			background = append(background, text)
		} else {
			others = append(others, text)
		}
	}
	if len(background) == 0 {
		return nil
	}
	s := policy.Background(background...)
	if s.Match.Selector() != nil { // the most specific entry counts
		s.Match.Except = others
	}
	return d.add(n, s, "")
}

// readClass reads a kind, or a mapping.
func readClass(n *yaml.Node) (c Class, background bool, err error) {
	if n.Kind != yaml.MappingNode {
		return c, false, readKind(n, &c.Kind)
	}
	if len(n.Content) == 0 {
		return c, false, lineError(n, "the task has no properties; write its kind, or keys and values")
	}
	err = decodeMap(n, "a task", []key{
		{name: "kind", read: func(n *yaml.Node) error { return readKind(n, &c.Kind) }},
		{name: "priority", read: func(n *yaml.Node) error { return readPriority(n, &c.Priority) }},
		{name: "labels", read: func(n *yaml.Node) error { return readLabels(n, &c.Labels) }},
		{name: "cost", read: func(n *yaml.Node) error { return readCost(n, &c.Cost) }},
		{name: "background", read: func(n *yaml.Node) error { return readBool(n, &background) }},
	})
	return c, background, err
}

func readKind(n *yaml.Node, to *string) error {
	if err := readString(n, to); err != nil {
		return err
	}
	if !lang.KnownKind(*to) && *to != Waits {
		return lineError(n, "there is no kind %q; want %s, or %q", *to, lang.KindNames, Waits)
	}
	return nil
}

func readPriority(n *yaml.Node, to **int32) error {
	var i int64
	if err := readInt(n, &i); err != nil {
		return err
	}
	if i < math.MinInt32 || i > math.MaxInt32 {
		return lineError(n, "the priority %d is not between %d and %d", i, math.MinInt32, math.MaxInt32)
	}
	p := int32(i)
	*to = &p
	return nil
}

func readLabels(n *yaml.Node, to *map[string]string) error {
	if _, err := mapping(n, "labels"); err != nil {
		return err
	}
	*to = map[string]string{}
	for i := 0; i < len(n.Content); i += 2 {
		name, v := n.Content[i].Value, n.Content[i+1]
		var value string
		if err := readString(v, &value); err != nil {
			return err
		}
		err := lang.CheckName("a label's name", name)
		if err == nil {
			err = lang.CheckName(fmt.Sprintf("the label %q", name), value)
		}
		if err != nil {
			return lineError(v, "%v", err)
		}
		(*to)[name] = value
	}
	return nil
}

func readCost(n *yaml.Node, to *time.Duration) error {
	if err := readDuration(n, to); err != nil {
		return err
	}
	if *to <= 0 {
		return lineError(n, "the cost %v is not positive; leave it out where nothing is known", *to)
	}
	return nil
}
