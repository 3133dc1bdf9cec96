package cocoon

import (
	"maps"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/inside"
)

// Cost returns the greatest number of steps that an evaluation of the version in force can take;
// docs/policy.md defines a step.
func (r *Registration) Cost() int {
	r.rt.regMu.Lock()
	defer r.rt.regMu.Unlock()
	return r.now.verified.Cost()
}

// File returns the file of the document that declares the policy, as LoadPolicyFile got its name.
// It returns "" for a policy of code, and of a document that was not read from a file.
func (r *Registration) File() string {
	r.rt.regMu.Lock()
	defer r.rt.regMu.Unlock()
	if from := r.now.from.Load(); from != nil {
		return from.file
	}
	return ""
}

func init() { inside.Documents = documentsInForce }

// documentsInForce is inside.Documents.
func documentsInForce(runtime any) (all []inside.Document) {
	rt := runtime.(*Runtime)
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(rt.files)) {
		is := rt.files[path]
		d := inside.Document{File: is.file, Text: is.source.Text()}
		for _, v := range is.versions {
			if v.part != nil && !v.part.new {
				continue // the text of the rest is the base's
			}
			d.Policies = append(d.Policies, inside.DocumentPolicy{Name: plainName(v.of.name), Mode: v.own.String(), Off: v.off.Load()})
		}
		all = append(all, d)
	}
	slices.SortStableFunc(all, func(a, b inside.Document) int { return strings.Compare(a.File, b.File) })
	return all
}
