package analyzer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// InDocument returns warnings about what a document declares in addition to its policies: tasks,
// tenants, functions that no throw unwinds, and a canary. members are the policies of the server,
// as far as they are known, and tasks the declarations of all its documents.
func InDocument(d *document.Document, members []Member, tasks map[string]document.Class) (all []Remark) {
	about := func(kind, name string, err error) {
		if err != nil {
			all = append(all, Remark{document.Part{Kind: kind, Name: name}, err})
		}
	}
	about("canary", "", vainCanary(d.Canary))
	about("canary", "", vainRollback(d.Canary))
	about("canary", "", strangeLabel(d, members, tasks))
	if d.Tasks["*"].Kind == document.Waits {
		about("task", "*", errors.New("all tasks without an entry of their own are declared to wait, and run without a slot: the loop's slots bound none of them; "+
			"name the tasks that wait, such as event streams"))
	}
	for _, k := range d.NeverUnwind {
		if k.Name == "main" {
			about("never-unwind", k.Name, errors.New("main is the package of the program itself: a throw waits until its functions return, so it ends no task that they run; name functions, as in main.save"))
		}
	}
	return append(all, strangeNames(d)...)
}

// vainCanary returns an error for a canary that compares nothing, because all tasks or none get its
// policies; or nil. An author may set such a share to turn a canary off or on.
func vainCanary(c *document.Canary) error {
	switch {
	case c == nil:
		return nil
	case c.Share == 0:
		return errors.New("the share is 0, so no task gets the new policies; write a share above 0, or load the old document")
	case c.Share == 1:
		return errors.New("the share is 1, so all tasks get the new policies, and none is left to compare with; leave canary out to promote it, or write a share below 1")
	}
	return nil
}

// vainRollback returns an error for a rollback without a condition, or nil.
func vainRollback(c *document.Canary) error {
	if c == nil || !c.Rollback.Given || c.Rollback.Throws != 0 || c.Rollback.Failed != 0 || c.Rollback.Queueing != 0 {
		return nil
	}
	return errors.New("rollback has no condition, so only an evaluation that fails ends the canary; write throws, failed or queueing, or leave rollback out")
}

// strangeLabel returns an error for a canary by a label that nothing else names, if the label is
// most likely another one, misspelt. Code sets labels, too, so other names may be right.
func strangeLabel(d *document.Document, members []Member, tasks map[string]document.Class) error {
	if d.Canary == nil {
		return nil
	}
	label, ok := strings.CutPrefix(d.Canary.By, document.ByLabel)
	if !ok {
		return nil
	}
	known := map[string]bool{}
	for _, c := range tasks {
		for name := range c.Labels {
			known[name] = true
		}
	}
	for _, m := range members {
		for _, r := range m.Verified.program.Reads {
			if r.Stub == stubs.TaskLabels || r.Stub == stubs.ArrivingLabels {
				known[r.Key] = true
			}
		}
	}
	if d.Tenants != nil {
		known[d.Tenants.Label] = true
	}
	if known[label] {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if lang.Misspelt(label, []string{name}) != "" || lang.Plain(label) == lang.Plain(name) {
			return fmt.Errorf("nothing else names the label %q, and tasks without the label keep the old policies; did you mean %q?", label, name)
		}
	}
	return nil
}

// strangeNames returns warnings about the names and labels of declared tasks, the names of tenants,
// of kept functions and of a canary's label that differ from what a reader sees.
func strangeNames(d *document.Document) (all []Remark) {
	judge := func(kind, name string, texts ...string) {
		for _, text := range texts {
			if what, seen := strange(text); what != "" {
				all = append(all, Remark{document.Part{Kind: kind, Name: name}, fmt.Errorf("%q has %s; write %q", text, what, seen)})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Tasks)) {
		judge("task", name, name)
		for _, label := range slices.Sorted(maps.Keys(d.Tasks[name].Labels)) {
			judge("task", name, label, d.Tasks[name].Labels[label])
		}
	}
	if d.Tenants != nil {
		judge("tenants", "", d.Tenants.Label)
		judge("tenants", "", slices.Sorted(maps.Keys(d.Tenants.Shares))...)
	}
	for _, k := range d.NeverUnwind {
		judge("never-unwind", k.Name, k.Name)
	}
	if d.Canary != nil {
		judge("canary", "", strings.TrimPrefix(d.Canary.By, document.ByLabel))
	}
	return all
}
