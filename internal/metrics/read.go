package metrics

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/cocoon-go/cocoon/cocoon"
)

// Value is the value of a metric for some values of its labels, in the order of Metric.Labels.
type Value struct {
	*Metric
	Labels    []string
	Number    float64
	Durations cocoon.Histogram // of a distribution, which has no Number
}

// Read calls send with each value of the snapshot. No metric has two values with the same labels.
func Read(st cocoon.Stats, send func(Value)) {
	r := reader(send)
	r.number(tasks, float64(st.Tasks))
	r.number(lost, float64(st.LinesLost))
	r.number(unkept, float64(st.Unkept))
	r.number(unmet, float64(len(st.Unmet)))
	for _, l := range st.Loops {
		r.loop(l)
	}
	r.policies(st)
	for name, d := range st.Documents {
		name = text(name)
		r.number(loads, float64(d.Loads), name)
		r.number(refusals, float64(d.Refusals), name)
		r.number(stale, indicator(d.Stale != ""), name)
		r.number(canary, indicator(d.Canary != nil), name)
		r.number(rollbacks, float64(d.Rollbacks), name)
	}
	for name, s := range st.States {
		name = text(name)
		r.number(keys, float64(s.Keys), name)
		r.number(maxKeys, float64(s.MaxKeys), name)
		r.number(evicted, float64(s.Evicted), name)
		r.number(expired, float64(s.Expired), name)
	}
}

type reader func(Value)

func (r reader) number(f *Metric, v float64, labels ...string) {
	r(Value{Metric: f, Labels: labels, Number: v})
}

func (r reader) durations(f *Metric, h cocoon.Histogram, labels ...string) {
	r(Value{Metric: f, Labels: labels, Durations: h})
}

// choice is a value of a metric's last label, and the value of the metric for it.
type choice struct {
	label string
	value float64
}

// choices sends the values of a metric with a last label of few values, after the other labels.
func (r reader) choices(f *Metric, labels []string, all ...choice) {
	for _, c := range all {
		r.number(f, c.value, append(labels[:len(labels):len(labels)], c.label)...)
	}
}

func (r reader) loop(l cocoon.LoopStats) {
	name := text(l.Name)
	r.number(slots, float64(l.Slots), name)
	r.choices(loopTasks, []string{name},
		choice{"running", float64(l.Busy)}, choice{"queued", float64(l.Queued)}, choice{"suspended", float64(l.Suspended)},
		choice{"lent", float64(l.Lent)}, choice{"parked", float64(l.Parked)})
	r.number(utilization, l.Utilization, name)
	r.number(busy, Seconds(l.BusyTime), name)
	r.number(ended, float64(l.Ended), name)
	r.choices(refused, []string{name},
		choice{"policy", float64(l.Refusals.Policy)}, choice{"overloaded", float64(l.Refusals.Overloaded)},
		choice{"shutdown", float64(l.Refusals.Shutdown)}, choice{"cancelled", float64(l.Refusals.Cancelled)})
	r.number(stalls, float64(l.Stalls), name)
	r.number(waits, float64(l.Waits), name)
	r.number(void, float64(l.Void), name)
	r.number(preempted, float64(l.Account.Preemptions), name)
	r.choices(spent, []string{name},
		choice{"queued", Seconds(l.Account.Queued)}, choice{"running", Seconds(l.Account.Running)},
		choice{"suspended", Seconds(l.Account.Suspended)}, choice{"blocked", Seconds(l.Account.Blocked)},
		choice{"starved", Seconds(l.Account.Starved)})
	r.number(crowded, float64(l.Crowded), name)
	r.durations(queueWait, l.Queueing, name)
	r.durations(safePoint, l.ToSafePoint, name)
	for tenant, t := range l.Tenants {
		if t.Listed { // the names of the rest are the clients'
			r.tenant(name, text(tenant), t)
		}
	}
}

func (r reader) tenant(loop, name string, t cocoon.TenantStats) {
	r.number(tenantShare, float64(t.Share), loop, name)
	r.choices(tenantTasks, []string{loop, name}, choice{"running", float64(t.Busy)}, choice{"queued", float64(t.Queued)})
	r.number(tenantEnded, float64(t.Ended), loop, name)
	r.number(tenantRunning, Seconds(t.Running), loop, name)
	r.number(tenantThrows, float64(t.Thrown), loop, name)
}

// policies sends the metrics of the policies in force, and the counters of policies no longer in
// force. A policy that is registered again under its old name keeps its counters.
func (r reader) policies(st cocoon.Stats) {
	for name, p := range st.Policies {
		labels := []string{text(name)}
		for m := cocoon.Enforce; m <= cocoon.Off; m++ {
			r.choices(mode, labels, choice{m.String(), indicator(p.Mode == m)})
		}
		r.number(off, indicator(p.Off), labels...)
		if p.Interval > 0 {
			r.number(interval, p.Interval.Seconds(), labels...)
		}
		r.policy(labels, st.Ended[name].Plus(p))
	}
	for name, p := range st.Ended {
		if _, again := st.Policies[name]; !again {
			r.policy([]string{text(name)}, p)
		}
	}
}

func (r reader) policy(labels []string, p cocoon.PolicyStats) {
	r.number(evaluations, float64(p.Evaluations), labels...)
	r.choices(decisions, labels,
		choice{"throw", float64(p.Throws)}, choice{"refuse", float64(p.Refusals)},
		choice{"switch", float64(p.Switches)}, choice{"effect", float64(p.Effects)})
	r.choices(observed, labels,
		choice{"throw", float64(p.WouldThrow)}, choice{"switch", float64(p.WouldSwitch)}, choice{"effect", float64(p.WouldEffect)})
	r.number(errors, float64(p.Errors), labels...)
	r.number(clamped, float64(p.Clamped), labels...)
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Seconds returns a sum of durations as seconds. The sum of all tasks of a large server wraps
// around: a hundred thousand open streams are blocked for 292 years in a day. As an unsigned number
// it falls only once in 584 years, and then to zero, as the counter of a process that has started
// again.
func Seconds(sum time.Duration) float64 { return float64(uint64(sum)) / 1e9 }

// text returns a name as monitoring systems take it: as UTF-8. A collector refuses all metrics if
// one label is not UTF-8.
func text(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return strconv.QuoteToASCII(name)
}
