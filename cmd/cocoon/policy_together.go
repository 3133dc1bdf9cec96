package main

import (
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
)

// together collects the policies and states in the documents of one server.
type together struct {
	documents []loaded
	members   []analyzer.Member // the policies without errors
	whole     bool              // no document and no policy has an error
}

type loaded struct {
	file string
	*document.Document
}

// reports returns the warnings for which it must know all documents. If a policy has an error, the
// states that it uses are unknown, so there are no warnings about states, and note says so.
func (t together) reports() (all []report) {
	remarks, tasks := analyzer.Together(t.members), map[string]document.Class{}
	var kept []document.Kept
	for _, d := range t.documents {
		maps.Copy(tasks, d.Tasks)
		kept = append(kept, d.NeverUnwind...)
	}
	remarks = append(remarks, analyzer.Mismatched(t.members, tasks)...)
	remarks = append(remarks, analyzer.Unending(t.members, kept)...)
	remarks = append(remarks, analyzer.OnFewSlots(t.members)...)
	if t.whole {
		remarks = append(remarks, analyzer.Unaccompanied(t.members, tasks)...)
		remarks = append(remarks, analyzer.Flows(t.members, t.declared())...)
	}
	for _, d := range t.documents {
		r := report{File: d.file}
		for _, remark := range slices.Concat(remarks, t.idle(d.Document, tasks)) {
			if line, _ := d.Place(remark.Part); line > 0 {
				r.Findings = append(r.Findings, found("warning", document.InFile(d.Refused(remark.Part, remark.Err), d.file)))
			}
		}
		if len(r.Findings) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// note says that reports has left something out, or is empty.
func (t together) note() string {
	if t.whole || len(t.members) == 0 {
		return ""
	}
	return "note: warnings about states, ranks and several policies come when there are no errors\n"
}

// idle returns the warnings about declarations of a document that no policy uses, or that most
// likely say something else than their author means.
func (t together) idle(d *document.Document, tasks map[string]document.Class) (remarks []analyzer.Remark) {
	if !t.whole {
		return nil
	}
	remarks = analyzer.Idle(t.members, statesOf(d))
	if d.Tenants != nil && len(d.Tenants.Shares) > 0 {
		if err := analyzer.IdleShares(t.members); err != nil {
			remarks = append(remarks, analyzer.Remark{Part: document.Part{Kind: "tenants"}, Err: err})
		}
	}
	return append(remarks, analyzer.InDocument(d, t.members, tasks)...)
}

// declared returns the declarations of all documents.
func (t together) declared() analyzer.Declared {
	all := analyzer.Declared{States: map[string]policy.State{}}
	for _, d := range t.documents {
		maps.Copy(all.States, statesOf(d.Document))
		if d.Tenants != nil {
			all.Tenant, all.Tenants, all.Accounts = d.Tenants.Label, d.Tenants.Expected(), d.Tenants.Accounts()+len(d.Tenants.Shares)
		}
	}
	return all
}

func statesOf(d *document.Document) map[string]policy.State {
	states, _ := policy.StatesOf(d.States) // the document's reader has checked them
	return states
}
