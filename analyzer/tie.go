package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// tie joins the reads about one name: the name itself, and the patterns that it is compared with.
// What is known of one read decides other reads: a name that matches "GET *" does not match "POST
// *". Ties are for warnings: they serve no proof.
type tie struct {
	name     term // or none
	patterns []tiedPattern
	texts    [2]map[stubs.NameID]string // the names of the program, and of its match
}

type tiedPattern struct {
	lang.Pattern
	term
}

func (t *tie) text(id stubs.NameID) (text string, ok bool) {
	for _, texts := range t.texts {
		if text, ok = texts[id]; ok {
			return text, true
		}
	}
	return "", id == 0
}

// tieNames makes the ties of the program, and reports whether it has any.
func (a *analysis) tieNames() bool {
	byName := map[ir.Read]*tie{}
	for _, r := range a.p.Reads {
		name := r.Name()
		if r.OfState() || name.Type != stubs.Name || stubs.Draw == r.Stub {
			continue
		}
		key := ir.Read{Stub: name.Stub, Key: name.Key}
		t := byName[key]
		if t == nil {
			t = &tie{name: none, texts: [2]map[stubs.NameID]string{a.p.Names, a.matched}}
			byName[key] = t
		}
		switch at := a.facts.read(r); {
		case r.Type == stubs.Name:
			t.name = at
		case r.Pattern != "":
			p, _ := lang.ParsePattern(r.Pattern)
			t.patterns = append(t.patterns, tiedPattern{p, at})
		}
	}
	a.facts.ties = map[term]*tie{}
	for _, t := range byName {
		if len(t.patterns) == 0 || len(t.patterns) == 1 && t.name == none {
			continue
		}
		for _, p := range t.patterns {
			a.facts.ties[p.term] = t
		}
		if t.name != none {
			a.facts.ties[t.name] = t
		}
	}
	return len(a.facts.ties) > 0
}

// pull adds what the facts about t say of the other reads of its tie.
func (f *facts) pull(t term) {
	tie := f.ties[t]
	if tie == nil || f.dead || f.fuel < 0 {
		return
	}
	if t == tie.name {
		f.pullPatterns(tie)
		return
	}
	for _, p := range tie.patterns {
		if p.term == t && f.known[t].truth.constant() {
			f.pullBy(tie, p, f.known[t].truth.yes)
		}
	}
}

// pullPatterns adds whether the possible names match the patterns.
func (f *facts) pullPatterns(t *tie) {
	names := f.known[t.name].names
	if names.except {
		return
	}
	for _, p := range t.patterns {
		var matches truth
		for _, id := range names.ids {
			text, ok := t.text(id)
			matched := ok && p.Matches(text)
			matches.yes, matches.no = matches.yes || matched || !ok, matches.no || !matched
		}
		f.fuel -= len(names.ids) / 16
		f.learn(p.term, boolValue(matches))
	}
}

// pullBy adds what follows for the other patterns and for the name from p matching, or not.
func (f *facts) pullBy(t *tie, p tiedPattern, matches bool) {
	for _, q := range t.patterns {
		switch {
		case q.term == p.term:
		case matches && !p.Overlaps(q.Pattern), !matches && p.Covers(q.Pattern):
			f.learn(q.term, known(false))
		case matches && q.Covers(p.Pattern):
			f.learn(q.term, known(true))
		}
	}
	if t.name == none || f.known[t.name].names.except {
		return
	}
	var left []stubs.NameID
	for _, id := range f.known[t.name].names.ids {
		if text, ok := t.text(id); !ok || p.Matches(text) == matches {
			left = append(left, id)
		}
	}
	f.learn(t.name, nameValue(nameSet{ids: left}))
}
