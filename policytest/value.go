package policytest

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// Where a value comes from, for the text of a failure. Values that the test gives have no remark.
const (
	notGiven = "not given"
	declared = "declared in tasks"
	labelled = "from the label"
)

// fill writes the values that the policy reads into its snapshot.
func (w *world) fill(c *compiled) {
	snapshot := c.eval.Snapshot()
	for i, r := range c.program.Reads {
		words := snapshot[r.Offset : r.Offset+r.Words]
		clear(words)
		switch {
		case r.OfState(): // after the names that may be its key
			words[0] = w.ofState(c, r, snapshot)
			continue
		case r.Stub == stubs.Draw:
			words[0] = math.Float64bits(w.draw(c))
			continue
		}
		v, _ := w.read(c.keys[i], r)
		if names, ok := v.([]string); ok {
			words[0] = uint64(len(names))
			for k, name := range names {
				words[1+k], _, _ = stubs.Word(name)
			}
			continue
		}
		words[0], _, _ = stubs.Word(v)
	}
}

// ofState returns a state's value, or its rate or average: the given value, or the value computed
// from the events.
func (w *world) ofState(c *compiled, r ir.Read, snapshot []uint64) uint64 {
	v, observing := w.here(c, r.Key), c.observing()
	if r.Stub == stubs.State {
		key := keyIn(r.By, snapshot)
		if r.By != nil {
			w.touch(v, key)
		}
		return v.at(key, observing, int64(w.now))
	}
	if given, ok := w.given[r.String()]; ok {
		word, _, _ := stubs.Word(given)
		return word
	}
	return v.trend(r).value(v, observing, int64(w.now))
}

// draw returns the policy's next draw on the loop of the event.
func (w *world) draw(c *compiled) float64 {
	of := drawer{c, w.loop()}
	if w.draws[of] == nil {
		d := ir.NewDraws(w.suite.seed, c.spec.Name, of.loop)
		w.draws[of] = &d
	}
	return w.draws[of].Next()
}

// drawer identifies a source of draws: a policy on a loop.
type drawer struct {
	*compiled
	loop string
}

// read returns the value that a policy reads, and where it comes from. A pattern, or a value
// computed from a name's text, is evaluated on the given names: whether a name matches, or how long
// the outermost section with a matching name has been open.
func (w *world) read(key string, r ir.Read) (v any, from string) {
	if r.Pattern == "" && r.Taken == ir.TakenWhole {
		return w.value(key, r)
	}
	p, _ := lang.ParsePattern(r.Pattern) // already checked by the policy's parser
	if r.Stub != stubs.TaskSections {
		name := r.Name()
		v, from = w.value(name.String(), name)
		text, _ := v.(string)
		if r.Pattern != "" {
			return p.Matches(text), from
		}
		return stubs.Value(r.Take(text), r.Type), from
	}
	longest, from := w.value(key, r)
	for path, v := range w.given {
		quoted, ok := strings.CutPrefix(path, stubs.Catalogue[r.Stub].Path+"[")
		name, err := strconv.Unquote(strings.TrimSuffix(quoted, "]"))
		if d, isDuration := v.(time.Duration); ok && err == nil && isDuration && p.Matches(name) {
			longest, from = max(longest.(time.Duration), d), ""
		}
	}
	return longest, from
}

// value returns a stub's value, and where it comes from.
func (w *world) value(key string, r ir.Read) (v any, from string) {
	v, given := w.given[key]
	if given && v != "" { // an empty label counts as none
		return v, ""
	}
	if v, from := w.declared(r); v != nil {
		return v, from
	}
	stub := stubs.Catalogue[r.Stub]
	least := max(stub.Min, min(0, stub.Max))
	if b, ok := analyzer.On(nil, r.Stub, w.on); ok {
		least = b.Least
	}
	switch {
	case given:
		return v, ""
	case r.Stub == stubs.RuntimeUptime:
		return w.uptime + w.now, ""
	case r.Stub == stubs.LoopName:
		return defaultLoop, notGiven
	case r.Stub == stubs.EventName:
		return w.custom, ""
	case stub.Type == stubs.Duration && stub.Min < 0: // a deadline: there is none
		return time.Duration(stub.Max), notGiven
	case stub.Enum:
		return stubs.KindNames[0], notGiven
	}
	switch stub.Type {
	case stubs.Bool:
		return false, notGiven
	case stubs.Int, stubs.Bytes:
		return least, notGiven
	case stubs.Float:
		return max(0, float64(least)), notGiven
	case stubs.Duration:
		return time.Duration(least), notGiven
	case stubs.NameList:
		return []string(nil), notGiven
	}
	return "", notGiven
}

// defaultLoop is the name of the loop that every server has.
const defaultLoop = "default"

// stub returns the value of a stub without a key.
func (w *world) stub(id stubs.ID) any {
	v, _ := w.value(stubs.Catalogue[id].Path, ir.Read{Stub: id})
	return v
}

// declared returns a value that the documents declare for the task of the event: its kind,
// priority, label or cost, or the tenant that a label names. It returns nil if they declare none.
func (w *world) declared(r ir.Read) (v any, from string) {
	name := stubs.ArrivingName
	switch r.Stub {
	case stubs.ArrivingKind, stubs.ArrivingPriority, stubs.ArrivingLabels, stubs.ArrivingCost:
	case stubs.TaskKind, stubs.TaskPriority, stubs.TaskLabels:
		name = stubs.TaskName
	case stubs.TenantName:
		return w.tenant()
	default:
		return nil, ""
	}
	text, _ := w.given[stubs.Catalogue[name].Path].(string)
	if text == "" {
		return nil, "" // there is no task, or nothing is known of it
	}
	class, _, _ := w.suite.tasks.Of(text)
	label, has := class.Labels[r.Key]
	switch r.Stub {
	case stubs.ArrivingKind, stubs.TaskKind:
		kind := max(0, slices.Index(stubs.KindNames[:], class.Kind)) // waits is atomic
		if w.suite.loaded.Safe[text] {
			kind |= slices.Index(stubs.KindNames[:], "safe")
		}
		if class.Kind != "" || kind != 0 {
			return stubs.KindNames[kind], declared
		}
	case stubs.ArrivingPriority, stubs.TaskPriority:
		if class.Priority != nil {
			return int64(*class.Priority), declared
		}
	case stubs.ArrivingLabels, stubs.TaskLabels:
		if has {
			return label, declared
		}
	case stubs.ArrivingCost:
		if class.Cost > 0 {
			return class.Cost, declared
		}
	}
	return nil, ""
}

// tenant returns the tenant of the task of the event, which arrives on enqueue, if a document names
// the label of the tenants.
func (w *world) tenant() (v any, from string) {
	r := ir.Read{Stub: stubs.TaskLabels, Key: w.suite.loaded.Label}
	if r.Key == "" {
		return nil, ""
	}
	if w.on == stubs.Enqueue {
		r.Stub = stubs.ArrivingLabels
	}
	if v, from = w.value(r.String(), r); from == "" {
		from = labelled
	}
	return v, from
}
