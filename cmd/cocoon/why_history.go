package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/exp/trace"
)

// history is what an execution trace says about Cocoon. All times are since the trace's clock
// began.
type history struct {
	begin, end time.Duration
	tasks      map[trace.TaskID]*taskHistory
	decisions  []decided
}

// decided is a decision, as package cocoon writes it into the trace.
type decided struct {
	at   time.Duration
	text string
}

// state is the activity of a task, by the regions of package cocoon.
type state int

const (
	ended state = iota // or not begun
	queued
	running
	suspended
	states
)

func (s state) String() string {
	return [...]string{"-", "queued", "running", "suspended"}[s]
}

// stateOf maps the regions to states.
var stateOf = map[string]state{"cocoon queued": queued, "cocoon running": running, "cocoon suspended": suspended}

const taskPrefix = "cocoon task "

// taskHistory is a task's states, in order. Each lasts until the next one.
type taskHistory struct {
	name    string
	changes []change
	open    []state // the open regions, the innermost last
}

type change struct {
	at time.Duration
	to state
}

// readHistory reads a trace.
func readHistory(r io.Reader) (*history, error) {
	events, err := trace.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("it is not an execution trace: %w", err)
	}
	h := &history{tasks: map[trace.TaskID]*taskHistory{}}
	for first := true; ; first = false {
		e, err := events.ReadEvent()
		if errors.Is(err, io.EOF) {
			h.forget()
			return h, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the trace is damaged: %w", err)
		}
		h.end = time.Duration(e.Time())
		if first {
			h.begin = h.end
		}
		h.add(e)
	}
}

// add adds an event.
func (h *history) add(e trace.Event) {
	at := time.Duration(e.Time())
	switch e.Kind() {
	case trace.EventTaskBegin:
		task := e.Task()
		h.task(task.ID).name = task.Type
	case trace.EventTaskEnd:
		t := h.task(e.Task().ID)
		t.name = cmp.Or(t.name, e.Task().Type)
		t.open = nil
		t.is(at, ended)
	case trace.EventRegionBegin:
		if s, ok := stateOf[e.Region().Type]; ok {
			t := h.task(e.Region().Task)
			t.open = append(t.open, s)
			t.is(at, s)
		}
	case trace.EventRegionEnd:
		if s, ok := stateOf[e.Region().Type]; ok {
			h.task(e.Region().Task).leave(s, h.begin, at)
		}
	case trace.EventLog:
		if log := e.Log(); log.Category == "cocoon" {
			h.decisions = append(h.decisions, decided{at, log.Message})
		}
	}
}

func (h *history) task(id trace.TaskID) *taskHistory {
	if h.tasks[id] == nil {
		h.tasks[id] = &taskHistory{}
	}
	return h.tasks[id]
}

// forget drops the program's own tasks, and names the rest.
func (h *history) forget() {
	for id, t := range h.tasks {
		name, ours := strings.CutPrefix(t.name, taskPrefix)
		switch {
		case ours:
			t.name = name
		case t.name == "" && len(t.changes) > 0:
			t.name = "(began before the file)"
		default:
			delete(h.tasks, id)
		}
	}
}

// is records a state.
func (t *taskHistory) is(at time.Duration, s state) { t.changes = append(t.changes, change{at, s}) }

// leave records the end of a region. A region that is not open began before the trace.
func (t *taskHistory) leave(s state, begin, at time.Duration) {
	if len(t.open) == 0 {
		if len(t.changes) == 0 {
			t.is(begin, s)
		}
		t.is(at, ended)
		return
	}
	t.open = t.open[:len(t.open)-1]
	outside := ended
	if len(t.open) > 0 {
		outside = t.open[len(t.open)-1]
	}
	t.is(at, outside)
}

// event returns the last decision, or the end of a trace without decisions.
func (h *history) event() (at time.Duration, what string) {
	if len(h.decisions) == 0 {
		return h.end, "the end of the trace"
	}
	last := h.decisions[len(h.decisions)-1]
	return last.at, last.text
}

// near returns the decisions around a time.
func (h *history) near(at, window time.Duration) (near []decided) {
	for _, d := range h.decisions {
		if d.at >= at-window && d.at <= at+window {
			near = append(near, d)
		}
	}
	return near
}

// share is a task's activity around a time.
type share struct {
	name  string
	then  state // at that time
	spent [states]time.Duration
}

// around returns the tasks that were alive around a time, the longest running first.
func (h *history) around(at, window time.Duration) (all []share) {
	from, to := max(h.begin, at-window), min(h.end, at+window)
	for _, t := range h.tasks {
		x := share{name: t.name}
		for i, c := range t.changes {
			until := h.end
			if i+1 < len(t.changes) {
				until = t.changes[i+1].at
			}
			if c.at <= at && (at < until || at == h.end && until == h.end) {
				x.then = c.to
			}
			x.spent[c.to] += max(0, min(until, to)-max(c.at, from))
		}
		if x.then != ended || x.spent[queued]+x.spent[running]+x.spent[suspended] > 0 {
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.spent[running], a.spent[running]), cmp.Compare(b.spent[queued], a.spent[queued]), strings.Compare(a.name, b.name))
	})
	return all
}
