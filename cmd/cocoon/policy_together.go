package main

import (
	"maps"
	"slices"

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
		r := report{File: d.file}
		for _, remark := range slices.Concat(remarks, t.idle(d.Document)) {
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

// idle returns the warnings about declarations of a document that no policy makes use of.
func (t together) idle(d *policy.Document) (remarks []analyzer.Remark) {
	if !t.whole {
		return nil
	}
	states := map[string]policy.State{}
	for name, declared := range d.States {
		states[name], _ = policy.StateOf(declared)
	}
	remarks = analyzer.Idle(t.members, states)
	if d.Tenants != nil && len(d.Tenants.Shares) > 0 {
		if err := analyzer.IdleShares(t.members); err != nil {
			remarks = append(remarks, analyzer.Remark{Part: policy.Part{Kind: "tenants"}, Err: err})
		}
	}
	return remarks
}
