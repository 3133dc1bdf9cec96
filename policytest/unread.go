package policytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// unread returns errors about all given values that no evaluation reads.
func (s *suite) unread(tests []document.Test) (all []error) {
	for i := range tests {
		t := &tests[i]
		all = append(all, s.unreadIn(t.Given, t.Events)...)
		for k := range t.Events {
			all = append(all, s.unreadIn(t.Events[k].Given, t.Events[k:])...)
		}
	}
	return all
}

// unreadIn is unread for the values that are given before some events.
func (s *suite) unreadIn(given map[string]document.Placed, events []document.TestEvent) (all []error) {
	for _, path := range slices.Sorted(maps.Keys(given)) {
		err := s.reaches(map[string]document.Placed{path: given[path]}, events)
		if !strings.HasPrefix(path, "state.") {
			if unread := s.reads(path, given[path].Value); unread != nil {
				err = &badTest{given[path], unread}
			}
		}
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// reaches refuses a value of the arriving task or of the running one that no evaluation from these
// events on reads: the policies read the other task.
func (s *suite) reaches(given map[string]document.Placed, events []document.TestEvent) error {
	on := stubs.Event(0)
	for _, e := range events {
		on |= e.On
	}
	for _, path := range slices.Sorted(maps.Keys(given)) {
		group, field, _ := strings.Cut(path, ".")
		if (group == "task" || group == "arriving") && !strings.HasPrefix(field, "sections[") && !s.isRead(path, on) {
			return &badTest{given[path], fmt.Errorf("no policy that is evaluated on %v reads %s%s", on, path, s.readInstead(path, on))}
		}
	}
	return nil
}

// isRead reports whether a policy that is evaluated on one of the events reads a value of a task,
// or is selected by it.
func (s *suite) isRead(path string, on stubs.Event) bool {
	group, field, _ := strings.Cut(path, ".")
	side := on &^ stubs.Enqueue // on which the server selects policies by the value
	if group == "arriving" {
		side = on & stubs.Enqueue
	}
	if field == "name" || field == "kind" || s.loaded.Label != "" && field == fmt.Sprintf("labels[%q]", s.loaded.Label) {
		if s.selects(side) {
			return true
		}
	}
	return slices.ContainsFunc(s.policies, func(c *compiled) bool {
		return c.spec.On.Set()&on != 0 && slices.ContainsFunc(c.program.Reads, func(r ir.Read) bool {
			read := r.Name()
			return !r.OfState() && (read.String() == path || (field == "name" || field == "kind") && strings.HasPrefix(read.String(), group+"."))
		})
	})
}

// selects reports whether the server looks at a task on one of the events. On a tick or a custom
// event it does so for policies that are only about tasks.
func (s *suite) selects(on stubs.Event) bool {
	const ofLoop = stubs.Tick | stubs.Custom
	return on&^ofLoop != 0 || slices.ContainsFunc(s.policies, func(c *compiled) bool {
		return c.spec.On.Set()&on&c.program.ForEach() != 0
	})
}

// unwritten refuses an expected state that no policy writes on the events of the test: it keeps its
// value whatever the policies decide.
func (s *suite) unwritten(events []document.TestEvent) error {
	on := stubs.Event(0)
	for _, e := range events {
		on |= e.On
		for _, name := range slices.Sorted(maps.Keys(e.Want.States)) {
			_, own, private := strings.Cut(name, ".")
			if !private {
				own = name
			}
			writes := func(c *compiled) bool {
				return c.spec.On.Set()&on != 0 && slices.ContainsFunc(c.program.Sites, func(site ir.Site) bool { return site.Effect.Writes() && site.Name == own })
			}
			if !slices.ContainsFunc(s.policies, writes) {
				return &badTest{e.Want.States[name], fmt.Errorf("no policy that is evaluated on %v writes the state %s, so it keeps its value; leave it out", on, name)}
			}
		}
	}
	return nil
}

// readInstead says what to do about a value that no policy reads on the events: a policy reads it
// when a task ends in the other way, or reads the same value of the other task.
func (s *suite) readInstead(path string, on stubs.Event) string {
	group, field, _ := strings.Cut(path, ".")
	if ends := on & stubs.Ends; ends != 0 && ends != stubs.Ends && s.isRead(path, stubs.Ends) {
		return fmt.Sprintf("; a task may end in either way, so write on: [exit, leave] in the policy that is evaluated on %v alone", stubs.Ends&^ends)
	}
	other := map[string]string{"task": "arriving", "arriving": "task"}[group] + "." + field
	if !s.isRead(other, on) {
		return "; leave it out"
	}
	return "; give " + other
}
