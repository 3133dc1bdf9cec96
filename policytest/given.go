package policytest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

func isLabel(r ir.Read) bool { return r.Stub == stubs.TaskLabels || r.Stub == stubs.ArrivingLabels }

// readsLabel refuses a label, given by its path, that no policy reads of any task: its name is most
// likely misspelt. The label of the tenants counts as read. Other keys are names of sections, and a
// test may show that a section makes no difference.
func (s *suite) readsLabel(path string) error {
	head, quoted, _ := strings.Cut(path, "[")
	key, err := strconv.Unquote(strings.TrimSuffix(quoted, "]"))
	if err != nil || head == stubs.Catalogue[stubs.TaskSections].Path || key == s.loaded.Label {
		return err
	}
	var others []string
	for _, c := range s.policies {
		for _, r := range c.program.Reads {
			switch name := r.Name().String(); {
			case !isLabel(r):
			case r.Key == key:
				return nil
			case !slices.Contains(others, name):
				others = append(others, name)
			}
		}
	}
	if len(others) == 0 {
		if s.loaded.Label != "" {
			return fmt.Errorf("no policy reads %s, nor any other label, and the label that names the tenants is %q", path, s.loaded.Label)
		}
		return fmt.Errorf("no policy reads %s, nor any other label", path)
	}
	return fmt.Errorf("no policy reads %s; the policies read %s", path, strings.Join(others, ", "))
}

// impossible returns an error about a given value that the policy reads, and that no server has on
// the event.
func (w *world) impossible(c *compiled) error {
	for i, r := range c.program.Reads {
		b, bounded := analyzer.On(c.program, r.Stub, w.on)
		if !bounded {
			continue
		}
		name := r.Name().String()
		for path, v := range w.given {
			ofPattern := r.Pattern != "" && strings.HasPrefix(path, stubs.Catalogue[stubs.TaskSections].Path+"[") && r.Stub == stubs.TaskSections
			if path != c.keys[i] && path != name && !ofPattern || b.Has(v) {
				continue
			}
			can := fmt.Sprintf("%d or more", b.Least)
			switch v.(type) {
			case string, []string:
				can = "empty"
			default:
				if b.Most == 0 {
					can = "0"
				}
			}
			return &badTest{w.places[path], fmt.Errorf("%s reads %s on %v, where it is %s: %s; and this is %v", c.called(), path, w.on, can, b.Why, v)}
		}
	}
	return nil
}

// always are the stubs that a test may give although no policy reads them: the server selects
// policies by them.
var always = []stubs.ID{stubs.TaskName, stubs.TaskKind, stubs.ArrivingName, stubs.ArrivingKind, stubs.LoopName, stubs.RuntimeUptime}

// readsStub refuses a stub without a key that no policy reads: it is most likely another stub than
// the policy's.
func (s *suite) readsStub(path string) error {
	stub, ok := stubs.Lookup(path)
	if !ok || slices.Contains(always, stub.ID) {
		return nil
	}
	_, field, _ := strings.Cut(path, ".")
	var others []string
	for _, c := range s.policies {
		for _, r := range c.program.Reads {
			if r.OfState() || r.Stub == stubs.Draw {
				continue
			}
			other := stubs.Catalogue[r.Stub].Path
			if r.Stub == stub.ID {
				return nil
			}
			if _, f, _ := strings.Cut(other, "."); f == field && !slices.Contains(others, other) {
				others = append(others, other)
			}
		}
	}
	if len(others) > 0 {
		return fmt.Errorf("no policy reads %s; the policies read %s", path, strings.Join(others, ", "))
	}
	return fmt.Errorf("no policy reads %s, so it changes nothing; leave it out, or give what a policy reads", path)
}

// hears refuses a custom event that no policy is evaluated on.
func (s *suite) hears(event string) error {
	var names []string
	for _, c := range s.policies {
		switch t := c.spec.On; {
		case t.Events&stubs.Custom == 0:
		case t.Custom == "" || t.Custom == event:
			return nil
		default:
			names = append(names, t.Custom)
		}
	}
	return fmt.Errorf("no policy is evaluated on the event %q; the policies have %s", event, list(names))
}

// switches reports whether a switch is in some policy.
func (s *suite) switches() bool {
	return slices.ContainsFunc(s.policies, func(c *compiled) bool { return c.program.MaySwitch() })
}

// says refuses a count of 0 for a verdict that no policy has. Any other count of it fails anyway.
func (s *suite) says(counts map[string]int) error {
	for verdict, count := range counts {
		if count > 0 || verdict == "continue()" || verdict == "switch()" && s.switches() {
			continue
		}
		has := slices.ContainsFunc(s.policies, func(c *compiled) bool {
			return slices.ContainsFunc(c.program.Reasons, func(reason string) bool {
				return strings.HasPrefix(verdict, strings.TrimSuffix(document.ThrowText(reason, 0), ")"))
			})
		})
		if !has {
			return fmt.Errorf("no policy says %s", verdict)
		}
	}
	return nil
}
