package cocoondebug

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/cocoon"
)

// looked is a task at which the collector has looked.
type looked struct {
	cocoon.TaskStats
	loop string
	name string // its path, cut
}

// lookedAt looks at tasks of all loops.
func (c *collector) lookedAt() (all []looked) {
	loops, _ := first(c.rt.Loops(), maxLoops)
	for _, l := range loops {
		for _, t := range l.Tasks(maxLooked) {
			all = append(all, looked{t, l.Name(), pathOf(t.Task.Path())})
		}
	}
	return all
}

// names puts the busiest names into a snapshot: by the slots that they used, then by throws, then
// by the time for which they wait.
func (c *collector) names(s *Snapshot, tasks []looked) {
	all := map[string]*Name{}
	of := func(name string) *Name {
		if all[name] == nil {
			all[name] = &Name{Name: name}
		}
		return all[name]
	}
	for _, line := range c.lines {
		for name, n := range line.samples {
			of(name).CPU += float64(n) / float64(len(line.slots))
		}
	}
	for _, t := range c.ticks {
		for name, n := range t.names {
			of(name).Throws += n.throws
			of(name).Refusals += n.refusals
		}
	}
	for _, t := range tasks {
		n := of(t.name)
		n.Tasks++
		if t.State == "queued" {
			n.Queued++
			n.Wait = max(n.Wait, t.For)
		}
	}
	list := make([]Name, 0, len(all))
	for _, n := range all {
		list = append(list, *n)
	}
	slices.SortFunc(list, func(a, b Name) int { return compareNames(a, b, ByCPU) })
	s.Names, s.MoreNames = first(list, maxNames)
}

// tasks puts tasks into a snapshot, as a tree: the tasks in slots, then the tasks that have been
// in their state for the longest, and the tasks above them.
func (c *collector) tasks(s *Snapshot, tasks []looked) {
	slices.SortStableFunc(tasks, func(a, b looked) int {
		return cmp.Or(cmp.Compare(min(b.Slot, 0), min(a.Slot, 0)), cmp.Compare(b.For, a.For))
	})
	tasks, _ = first(tasks, maxTasks)
	s.MoreTasks = max(0, s.Live-int64(len(tasks)))
	c.ids.sweep()
	t := tree{ids: &c.ids, known: map[*cocoon.Task]looked{}, placed: map[*cocoon.Task]bool{}, below: map[*cocoon.Task][]*cocoon.Task{}, rows: []Task{}}
	for _, l := range tasks {
		t.known[l.Task] = l
	}
	for _, l := range tasks {
		t.place(l.Task)
	}
	t.walk(nil, 0)
	s.Tasks = t.rows
}

// tree arranges tasks below their parents.
type tree struct {
	ids    *identities
	known  map[*cocoon.Task]looked
	placed map[*cocoon.Task]bool
	below  map[*cocoon.Task][]*cocoon.Task // nil: the outermost tasks
	rows   []Task
}

// maxRows bounds the rows of the tree: the tasks of a snapshot, and tasks above them.
const maxRows = 2 * maxTasks

// place puts a task, and the tasks above it, into their places. The parent of a task may change
// meanwhile, so each task is asked once. A task at too great a depth has no parent here.
func (t *tree) place(task *cocoon.Task) {
	for ; task != nil && !t.placed[task]; task = task.Parent() {
		t.placed[task] = true
		parent := task.Parent()
		if len(t.placed) > maxRows {
			parent = nil
		}
		t.below[parent] = append(t.below[parent], task)
		if parent == nil {
			return
		}
	}
}

func (t *tree) walk(parent *cocoon.Task, depth int) {
	for _, task := range t.below[parent] {
		if len(t.rows) >= maxRows {
			return
		}
		t.rows = append(t.rows, t.row(task, depth))
		t.walk(task, depth+1)
	}
}

func (t *tree) row(task *cocoon.Task, depth int) Task {
	row := Task{
		ID: t.ids.id(task), Depth: depth, Name: cut(task.Name(), maxName), Stack: stackOf(task),
		Loop: cut(task.Loop().Name(), maxName), State: "ended", Slot: -1,
	}
	l, ok := t.known[task]
	switch {
	case ok:
		row.State, row.Slot, row.For, row.Tenant, row.Section = l.State, l.Slot, l.For, cut(l.Tenant, maxName), cut(l.Section, maxName)
		a := l.Account
		row.Queued, row.Running, row.Blocked, row.Suspended, row.Starved, row.Preemptions = a.Queued, a.Running, a.Blocked, a.Suspended, a.Starved, a.Preemptions
	case task.Status() <= cocoon.Started:
		row.State = "live" // and not looked at
	}
	return row
}

// stackOf returns the asynchronous stack of a task: of a long one, the outermost and the last
// tasks.
func stackOf(t *cocoon.Task) []string {
	stack := t.Stack()
	if len(stack) > maxStack {
		stack = append([]string{stack[0], "…"}, stack[len(stack)-maxStack+2:]...)
	}
	for i := range stack {
		stack[i] = cut(stack[i], maxName)
	}
	return stack
}

// pathOf returns the path of a task as a decision about the task has it, but shorter.
func pathOf(path string) string {
	if path == "" {
		return "(no name)"
	}
	return cut(path, maxName)
}

// Sort is an order of names.
type Sort string

// The orders of names: by slots used, by the longest wait, and by throws and refusals.
const (
	ByCPU    Sort = "cpu"
	ByWait   Sort = "wait"
	ByThrows Sort = "throws"
)

// NamesBy returns a copy of a snapshot's names in an order.
func (s *Snapshot) NamesBy(by Sort) []Name {
	list := slices.Clone(s.Names)
	slices.SortFunc(list, func(a, b Name) int { return compareNames(a, b, by) })
	return list
}

func compareNames(a, b Name, by Sort) int {
	cpu, wait := cmp.Compare(b.CPU, a.CPU), cmp.Compare(b.Wait, a.Wait)
	throws := cmp.Compare(b.Throws+b.Refusals, a.Throws+a.Refusals)
	order := map[Sort][3]int{ByWait: {wait, cpu, throws}, ByThrows: {throws, cpu, wait}}
	o, ok := order[by]
	if !ok {
		o = [3]int{cpu, throws, wait}
	}
	return cmp.Or(o[0], o[1], o[2], strings.Compare(a.Name, b.Name))
}
