package policytest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

func isLabel(r policy.Read) bool { return r.Stub == stubs.TaskLabels || r.Stub == stubs.ArrivingLabels }

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
			return &badTest{w.places[path], fmt.Errorf("policy %q reads %s on %v, where it is %s: %s; and this is %v", c.spec.Name, path, w.on, can, b.Why, v)}
		}
	}
	return nil
}
