package main

import (
	"maps"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy"
)

// together collects the policies and states in the documents of one server.
type together struct {
	documents []loaded
	members   []analyzer.Member // the policies without errors
	whole     bool              // no document and no policy has an error
}

type loaded struct {
	file string
	*policy.Document
}

// reports returns the warnings for which it must know all documents. If a policy has an error, the
// states that it uses are unknown, so there are no warnings about states.
func (t together) reports() (all []report) {
	remarks, tasks := analyzer.Together(t.members), map[string]policy.Class{}
	for _, d := range t.documents {
		maps.Copy(tasks, d.Tasks)
	}
	remarks = append(remarks, analyzer.Mismatched(t.members, tasks)...)
	for _, d := range t.documents {
		if t.whole {
			states := map[string]policy.State{}
			for name, declared := range d.States {
				states[name], _ = policy.StateOf(declared)
			}
			remarks = append(remarks, analyzer.Idle(t.members, states)...)
		}
		r := report{File: d.file}
		for _, remark := range remarks {
			if line, _ := d.Place(remark.Part); line > 0 {
				r.Findings = append(r.Findings, found("warning", policy.InFile(d.Refused(remark.Part, remark.Err), d.file)))
			}
		}
		if len(r.Findings) > 0 {
			all = append(all, r)
		}
	}
	return all
}
