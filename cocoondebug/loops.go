package cocoondebug

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/cocoon"
)

// loop returns a loop's part of a snapshot.
func (c *collector) loop(l cocoon.LoopStats) Loop {
	began := c.ticks[0]
	then, ok := began.loops[l.Name]
	if !ok {
		then = l // made within the window
	}
	shown := Loop{
		Name: cut(l.Name, maxName), Slots: l.Slots, Busy: l.Busy, Queued: l.Queued, Suspended: l.Suspended, Lent: l.Lent, Parked: l.Parked,
		Utilization: l.Utilization, Ended: l.Ended, Refused: l.Refused, Stalls: l.Stalls, Waits: l.Waits,
		Wait: quantilesOf(since(l.Queueing, then.Queueing)), SafePoint: quantilesOf(since(l.ToSafePoint, then.ToSafePoint)),
		Queue: []int{}, Tenants: []Tenant{},
	}
	if seconds := c.ticks[len(c.ticks)-1].at.Sub(began.at).Seconds(); seconds > 0 {
		shown.EndedRate, shown.RefusedRate = float64(l.Ended-then.Ended)/seconds, float64(l.Refused-then.Refused)/seconds
	}
	for _, t := range c.ticks {
		shown.Queue = append(shown.Queue, t.loops[l.Name].Queued)
	}
	if line := c.lines[l.Name]; line != nil {
		shown.Line = line.line(l.Slots)
	}
	names := sortedBy(maps.Keys(l.Tenants), func(name string) int64 { return int64(l.Tenants[name].Running) })
	names, shown.MoreTenants = first(names, maxTenants)
	slices.Sort(names) // a table whose rows change places cannot be read
	for _, name := range names {
		t := l.Tenants[name]
		shown.Tenants = append(shown.Tenants, Tenant{cut(name, maxName), t.Share, t.Busy, t.Queued, t.Ended, t.Running, t.Thrown})
	}
	return shown
}

// sortedBy returns the names, the greatest values first.
func sortedBy(names iter.Seq[string], value func(string) int64) []string {
	list := slices.Collect(names)
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(value(b), value(a)), strings.Compare(a, b)) })
	return list
}

// since returns the durations that a histogram counted after it was like then.
func since(h, then cocoon.Histogram) cocoon.Histogram {
	h.Zero -= then.Zero
	h.Counts = slices.Clone(h.Counts)
	for i, n := range then.Counts {
		if at := then.First + i - h.First; at >= 0 && at < len(h.Counts) {
			h.Counts[at] -= n
		}
	}
	return h
}

func quantilesOf(h cocoon.Histogram) Quantiles {
	return Quantiles{h.Count(), h.Quantile(0.5), h.Quantile(0.9), h.Quantile(0.99)}
}
