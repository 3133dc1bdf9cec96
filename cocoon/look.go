package cocoon

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy/document"
)

// A look finds the warnings about the policies in force. With thousands of policies it takes
// seconds, so no registration waits for it: it runs on a separate goroutine, without regMu. A
// thousand registrations in a row share a few looks. If the policies have changed meanwhile, the
// look is repeated, after a pause in proportion to its length.

const (
	lookPause    = 9 // so looks take a tenth of a processor
	maxLookPause = 10 * time.Second
)

// lookSoon starts a look, which logs the warnings about the added policies, and new warnings about
// policies together. Called with regMu held, after a change of anything that a look sees.
func (rt *Runtime) lookSoon(added ...*version) {
	if rt.closing {
		return
	}
	rt.look.wanted = true
	if rt.look.added == nil {
		rt.look.added = map[*version]bool{}
	}
	for _, v := range added {
		rt.look.added[v] = true
	}
	if !rt.look.running {
		rt.look.running = true
		rt.log.prepare(rt.looks)
	}
}

// looks looks until the policies no longer change.
func (rt *Runtime) looks() {
	for s := rt.toLookAt(); s != nil; s = rt.toLookAt() {
		began := time.Now()
		remarks, whole := rt.remarksOf(s, s.remarks)
		if !whole {
			return
		}
		rt.tellRemarks(s, remarks)
		pause := time.NewTimer(min(lookPause*time.Since(began), maxLookPause))
		if !rt.lookAgain() {
			pause.Stop()
			continue
		}
		select {
		case <-pause.C:
		case <-rt.ctx.Done():
			pause.Stop()
		}
	}
}

// fewToLookAt is the number of policies for whose warnings Shutdown waits. They take about 10 ms.
const fewToLookAt = 100

// remarksOf returns what find finds. With more policies than fewToLookAt it returns false when the
// runtime ends: Shutdown waits for the caller, but not for find.
func (rt *Runtime) remarksOf(s *sight, find func() []analyzer.Remark) (found []analyzer.Remark, whole bool) {
	if len(s.members) <= fewToLookAt {
		return find(), true
	}
	if rt.ctx.Err() != nil {
		return nil, false
	}
	result := make(chan []analyzer.Remark, 1)
	go func() { result <- find() }()
	select {
	case found = <-result:
		return found, true
	case <-rt.ctx.Done():
		return nil, false
	}
}

// lookAgain reports whether policies have changed since the last look began.
func (rt *Runtime) lookAgain() bool {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	return rt.look.wanted
}

// sight is what a look sees. It has a version for each member.
type sight struct {
	members  []analyzer.Member
	versions map[string]*version
	loops    [][]analyzer.Loop // of each member
	modes    []Mode            // of each member, now
	tasks    map[string]document.Class
	kept     []document.Kept
	added    map[*version]bool     // since the last look
	own      map[*version][]string // the warnings about each of added, see remarks
}

// toLookAt returns what to look at, or nil if nothing has changed since the last look.
func (rt *Runtime) toLookAt() *sight {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	if !rt.look.wanted {
		rt.look.running = false
		return nil
	}
	s := rt.sight()
	s.added = rt.look.added
	rt.look.wanted, rt.look.added = false, nil
	return s
}

// sight returns the policies in force, and what warnings about them depend on. Called with regMu
// held.
func (rt *Runtime) sight() *sight {
	s := &sight{versions: map[string]*version{}, tasks: rt.declarations()}
	for _, v := range rt.inOrder() {
		var loops []analyzer.Loop
		for _, b := range v.bounds {
			loops = append(loops, analyzer.Loop{Name: b.loop.cfg.Name, Slots: int(b.loop.usable.Load())})
		}
		s.members, s.loops, s.modes = append(s.members, v.member()), append(s.loops, loops), append(s.modes, v.mode())
		s.versions[v.of.name] = v
	}
	for _, of := range rt.documentsKeep {
		s.kept = append(s.kept, of...)
	}
	slices.SortFunc(s.kept, func(a, b document.Kept) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// remarks returns the warnings about policies together, about policies for which loops have too few
// slots or there are too many loops, and about policies that throw into functions that documents
// keep from being unwound. It finds the warnings about each added policy, too.
func (s *sight) remarks() (all []analyzer.Remark) {
	s.own = map[*version][]string{}
	for v := range s.added {
		for _, w := range v.verified.Warnings() {
			s.own[v] = append(s.own[v], v.located(w.Error))
		}
	}
	all = slices.Concat(analyzer.Together(s.members), analyzer.Mismatched(s.members, s.tasks))
	for i, m := range s.members {
		m.Spec.Mode = s.modes[i]
		if r := analyzer.OnSlots(m, s.loops[i]); r != nil {
			all = append(all, *r)
		}
		if r := analyzer.OnLoops(m, s.loops[i]); r != nil {
			all = append(all, *r)
		}
	}
	return append(all, analyzer.Unending(s.members, s.kept)...)
}

// tellRemarks logs the warnings about each policy that has come into force, and the remarks that
// the last look has not had. It leaves out versions that went out of force during the look.
func (rt *Runtime) tellRemarks(s *sight, remarks []analyzer.Remark) {
	texts := map[string][]string{}
	rt.regMu.Lock()
	for v, own := range s.own {
		if v.inForce() {
			texts[v.of.name] = own
		}
	}
	remarks = slices.DeleteFunc(remarks, func(r analyzer.Remark) bool {
		v := s.versions[r.Name]
		return v != nil && !v.inForce()
	})
	for name, said := range rt.newRemarks(&rt.toldTogether, remarks, s.versions) {
		texts[name] = append(texts[name], said...)
	}
	rt.regMu.Unlock()
	rt.warn(texts)
}

// newRemarks returns the texts of the remarks that are not in told, by policy, and puts all into
// told. versions are the policies of the remarks, by name. Called with regMu held.
func (rt *Runtime) newRemarks(told *[]string, remarks []analyzer.Remark, versions map[string]*version) map[string][]string {
	texts, all, old := map[string][]string{}, []string(nil), map[string]bool{}
	for _, text := range *told {
		old[text] = true
	}
	for _, r := range remarks {
		text := r.Err.Error()
		if all = append(all, r.Name+": "+text); !old[r.Name+": "+text] {
			if v := versions[r.Name]; v != nil {
				text = v.located(r.Err)
			}
			texts[r.Name] = append(texts[r.Name], text)
		}
	}
	*told = all
	return texts
}

// located returns the text of a warning, with its place in the document that declares the policy.
func (v *version) located(err error) string {
	f := failure{plainName(v.of.name), v.verified.Program(), v.from.Load(), err}
	return f.Error()
}

// mostWarned is how many policies one look warns of. More lines would not fit into the log's queue.
const mostWarned = maxLines / 4

// warn logs warnings, a line for each policy.
func (rt *Runtime) warn(texts map[string][]string) {
	names := slices.Sorted(maps.Keys(texts))
	if more := len(names) - mostWarned; more > 0 {
		names = names[:mostWarned]
		defer rt.log.add(slog.LevelWarn, "cocoon: more policies have warnings; cocoon policy check shows them", "policies", more)
	}
	for _, name := range names {
		rt.log.add(slog.LevelWarn, "cocoon: policy may do something else than its author means", "policy", name, "warnings", texts[name])
	}
}
