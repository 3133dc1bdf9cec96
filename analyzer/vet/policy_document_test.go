package vet

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

// checkDocuments checks errors in documents that a program embeds or opens: each is reported at its
// place in the document.
func checkDocuments(t *testing.T, r *analysistest.Result) {
	t.Helper()
	var got []string
	for _, d := range r.Diagnostics {
		from, to := r.Pass.Fset.Position(d.Pos), r.Pass.Fset.Position(d.End)
		got = append(got, fmt.Sprintf("%s:%d:%d-%d: %s", filepath.Base(from.Filename), from.Line, from.Column, to.Column, d.Message))
	}
	slices.Sort(got)
	want := []string{
		`embedded.yaml:8:11-18: policy "a": there is no function swich; did you mean switch?`,
		`embedded_bytes.yaml:3:35-51: questionable: policy "c": queue.length < 0 is always false: queue.length is 0 or more here`,
		`embedded_bytes.yaml:3:54-70: questionable: policy "c": throw("never") is never reached`,
		`embedded_bytes.yaml:3:73-80: questionable: policy "c": the policy "order" ranks the same tasks: of two ranks of a task the last counts, and ranks compare as plain numbers; remove one of them; or rank in one policy, by a condition`,
		`embedded_bytes.yaml:5:9-10: questionable: canary: the share is 1, so all tasks get the new policies, and none is left to compare with; leave canary out to promote it, or write a share below 1`,
		`file.yaml:2:1-8: the document has no key "policys"; did you mean policies?`,
		`joined.yaml:2:24-27: the number 010 begins with 0, which is octal to some readers and not to others; write 10, or 0o10`,
		`opened.yaml:3:45-46: policy "d": the state hot is a bool and 1 is a plain number`,
		`read.yaml:3:33-49: policy "e": division by zero: queue.length may be 0 here; guard it: queue.length != 0 ? ... : ...`,
		`shared.yaml:4:53-57: policy "shared": the state shared is an int and true is a bool`,
		`watched.yaml:2:1-8: the document has no key "polices"; did you mean policies?`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
