package policytest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// world holds the values that the policies read, in one test.
type world struct {
	suite      *suite
	given      map[string]any
	uptime     time.Duration // runtime.uptime at the start of the test
	now        time.Duration // since then
	registered map[string]*variable
	private    map[*compiled]map[string]*variable
	off        map[*compiled]bool // cancelled by themselves
	draws      map[drawer]*stubs.Draws
}

func (s *suite) world() *world {
	w := &world{suite: s, given: map[string]any{}, registered: newVariables(s.registered),
		private: map[*compiled]map[string]*variable{}, off: map[*compiled]bool{}, draws: map[drawer]*stubs.Draws{}}
	for _, c := range s.policies {
		w.private[c] = newVariables(c.spec.State)
		for _, r := range c.program.Reads {
			if r.OfState() && r.Stub != stubs.State {
				w.visible(c, r.Key).trend(r)
			}
		}
	}
	return w
}

// give sets values of stubs and states until they are set again.
func (w *world) give(given map[string]any) error {
	for _, path := range slices.Sorted(maps.Keys(given)) {
		v := given[path]
		name, isState := strings.CutPrefix(path, "state.")
		switch {
		case isState:
			if err := w.set(name, v); err != nil {
				return err
			}
		case path == "runtime.uptime":
			w.uptime = v.(time.Duration) - w.now
		default:
			if err := w.suite.reads(path, v); err != nil {
				return err
			}
			w.given[path] = v
		}
	}
	return nil
}

// state returns the state of that name: a registered one, the only private one of that name, or
// POLICY.NAME.
func (w *world) state(name string) (*variable, error) {
	if v := w.registered[name]; v != nil {
		return v, nil
	}
	var found *variable
	var names []string
	for _, c := range w.suite.policies {
		for short, v := range w.private[c] {
			long := c.spec.Name + "." + short
			if name == long {
				return v, nil
			}
			if name == short {
				found, names = v, append(names, long)
			}
		}
	}
	switch len(names) {
	case 0:
		return nil, fmt.Errorf("there is no state %q, registered or private", name)
	case 1:
		return found, nil
	}
	return nil, fmt.Errorf("several policies have a state %q; write %s", name, strings.Join(names, " or "))
}

// visible returns the state that a policy reads under that name.
func (w *world) visible(c *compiled, name string) *variable {
	if v := w.private[c][name]; v != nil {
		return v
	}
	return w.registered[name]
}

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
func (w *world) ofState(c *compiled, r policy.Read, snapshot []uint64) uint64 {
	v := w.visible(c, r.Key)
	if r.Stub == stubs.State {
		return v.at(keyIn(r.By, snapshot), int64(w.now))
	}
	if given, ok := w.given[r.String()]; ok {
		word, _, _ := stubs.Word(given)
		return word
	}
	return v.trend(r).Value(int64(w.now), v.word)
}

// draw returns the policy's next draw on the given loop.
func (w *world) draw(c *compiled) float64 {
	loop, _ := w.value(stubs.Catalogue[stubs.LoopName].Path, stubs.LoopName)
	of := drawer{c, loop.(string)}
	if w.draws[of] == nil {
		d := stubs.NewDraws(w.suite.seed, c.spec.Name, of.loop)
		w.draws[of] = &d
	}
	return w.draws[of].Next()
}

// drawer identifies a source of draws: a policy on a loop.
type drawer struct {
	*compiled
	loop string
}

// read returns the value that a policy reads, and whether the test gives it. A pattern, or a value
// computed from a name's text, is evaluated on the given names: whether a name matches, or how long
// the outermost section with a matching name has been open.
func (w *world) read(key string, r policy.Read) (v any, given bool) {
	if r.Pattern == "" && r.Taken == policy.TakenWhole {
		return w.value(key, r.Stub)
	}
	p, _ := policy.ParsePattern(r.Pattern) // already checked by the policy's parser
	if r.Stub != stubs.TaskSections {
		v, given = w.value(r.Name().String(), r.Stub)
		name, _ := v.(string)
		if r.Pattern != "" {
			return p.Matches(name), given
		}
		return stubs.Value(r.Take(name), r.Type), given
	}
	longest, _ := w.value(key, r.Stub)
	for path, v := range w.given {
		quoted, ok := strings.CutPrefix(path, stubs.Catalogue[r.Stub].Path+"[")
		name, err := strconv.Unquote(strings.TrimSuffix(quoted, "]"))
		if d, isDuration := v.(time.Duration); ok && err == nil && isDuration && p.Matches(name) {
			longest, given = max(longest.(time.Duration), d), true
		}
	}
	return longest, given
}

// value returns a stub's value, and whether the test gives it.
func (w *world) value(key string, id stubs.ID) (v any, given bool) {
	if v, ok := w.given[key]; ok {
		return v, true
	}
	stub := stubs.Catalogue[id]
	least := max(stub.Min, min(0, stub.Max))
	switch {
	case id == stubs.RuntimeUptime:
		return w.uptime + w.now, true
	case stub.Type == stubs.Duration && stub.Min < 0: // a deadline: there is none
		return time.Duration(stub.Max), false
	case stub.Enum:
		return stubs.KindNames[0], false
	}
	switch stub.Type {
	case stubs.Bool:
		return false, false
	case stubs.Int, stubs.Bytes:
		return least, false
	case stubs.Float:
		return float64(least), false
	case stubs.Duration:
		return time.Duration(least), false
	case stubs.NameList:
		return []string(nil), false
	}
	return "", false
}

// concerns returns the reason why a policy is not evaluated for an event, or "".
func (w *world) concerns(c *compiled, on stubs.Event, custom string) string {
	t := c.spec.On
	switch {
	case w.off[c]:
		return "it has cancelled itself"
	case c.spec.Mode == policy.Off:
		return "its mode is off"
	case t.Set()&on == 0:
		return "it is evaluated on " + t.Set().String()
	case on == stubs.Custom && t.Custom != "" && t.Custom != custom:
		return fmt.Sprintf("it is evaluated on the event %q", t.Custom)
	}
	name, kind := stubs.TaskName, stubs.TaskKind
	if on == stubs.Enqueue {
		name, kind = stubs.ArrivingName, stubs.ArrivingKind
	}
	for _, m := range []struct {
		list []string
		id   stubs.ID
	}{{c.spec.Match.Loops, stubs.LoopName}, {c.spec.Match.Tasks, name}, {c.spec.Match.Kinds, kind}} {
		path := stubs.Catalogue[m.id].Path
		v, _ := w.value(path, m.id)
		has := v.(string)
		switch selector := c.spec.Match.Selector(); {
		case m.id == name && selector != nil:
			if !selector.Selects(has) {
				return matchesAlone(c.spec.Match, path, has)
			}
		case len(m.list) > 0 && !slices.Contains(m.list, has):
			return fmt.Sprintf("it matches %s alone, and %s is %q", strings.Join(m.list, ", "), path, has)
		}
	}
	return ""
}

// matchesAlone describes the names that a policy with patterns or exceptions matches.
func matchesAlone(m policy.Match, path, has string) string {
	in := strings.Join(m.Tasks, ", ")
	if in == "" {
		in = "all"
	}
	if len(m.Except) > 0 {
		in += " but " + strings.Join(m.Except, ", ")
	}
	return fmt.Sprintf("it matches %s alone, and %s is %q", in, path, has)
}
