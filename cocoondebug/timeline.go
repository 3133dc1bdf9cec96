package cocoondebug

import (
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

const (
	sampleEvery = 50 * time.Millisecond
	frameEvery  = 10 // samples
	samplesKept = 200
	ticksKept   = samplesKept / frameEvery
)

// timeline holds the samples of one loop: which task each slot had. The collector's goroutine owns
// it.
type timeline struct {
	slots   [][]string     // by sample, the oldest first, and by slot; "" is a free slot
	samples map[string]int // by name: in how many slots of all samples it was
}

// add takes a sample.
func (l *timeline) add(of *cocoon.Loop, slots int) {
	if l.samples == nil {
		l.samples = map[string]int{}
	}
	if len(l.slots) == samplesKept {
		for _, name := range l.slots[0] {
			if l.samples[name]--; l.samples[name] <= 0 {
				delete(l.samples, name)
			}
		}
		l.slots = slices.Delete(l.slots, 0, 1)
	}
	now := make([]string, min(slots, maxSampled))
	for _, t := range of.Tasks(len(now)) {
		if t.Slot >= 0 && t.Slot < len(now) && t.State == "running" {
			name := pathOf(t.Task.Path())
			now[t.Slot] = name
			l.samples[name]++
		}
	}
	l.slots = append(l.slots, now)
}

// line returns the time line. It shows the most frequent names, and the others as one.
func (l *timeline) line(slots int) Line {
	line := Line{Every: sampleEvery, Samples: len(l.slots), Names: []string{""}}
	number := map[string]int{}
	names, _ := first(sortedByCount(l.samples), maxLine)
	for _, name := range names {
		number[name] = len(line.Names)
		line.Names = append(line.Names, name)
	}
	shown := min(slots, maxSlots)
	line.MoreSlots = slots - shown
	for slot := range shown {
		line.Slots = append(line.Slots, l.spans(slot, number))
	}
	return line
}

// spans returns the spans of a slot.
func (l *timeline) spans(slot int, number map[string]int) []Span {
	spans := []Span{}
	for i, sample := range l.slots {
		if slot >= len(sample) || sample[slot] == "" {
			continue
		}
		name := number[sample[slot]]
		if last := len(spans) - 1; last >= 0 && spans[last][0] == name && spans[last][2] == i {
			spans[last][2]++
		} else {
			spans = append(spans, Span{name, i, i + 1})
		}
	}
	return spans
}

// tick holds the changes between two snapshots.
type tick struct {
	at    time.Time
	loops map[string]cocoon.LoopStats
	names map[string]*counted // decisions, by the name of their task
}

type counted struct{ throws, refusals int }

// count counts a decision for the name of its task.
func (t *tick) count(d cocoon.Decision) {
	if sortOf(d.Kind) != verdicts {
		return
	}
	name := pathOf(d.Task)
	c := t.names[name]
	if c == nil {
		if len(t.names) >= maxCounted {
			return // its throws still count in its policy and its loop
		}
		c = new(counted)
		t.names[name] = c
	}
	if d.Kind == cocoon.DecisionThrow {
		c.throws++
	} else {
		c.refusals++
	}
}
