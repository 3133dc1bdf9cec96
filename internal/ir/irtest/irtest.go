// Package irtest evaluates programs in tests.
package irtest

import (
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// Evaluate runs the policy over the given stubs, with names as policies write them. All other stubs
// are zero.
func Evaluate(t *testing.T, p *ir.Program, values map[string]any) ir.Outcome {
	t.Helper()
	snapshot := make([]uint64, p.Words)
	used := 0
	for _, r := range p.Reads {
		v, ok := values[r.String()]
		if !ok {
			continue
		}
		used++
		if list, ok := v.([]string); ok {
			snapshot[r.Offset] = uint64(len(list))
			for i, s := range list {
				snapshot[r.Offset+1+i] = uint64(stubs.Intern(s))
			}
			continue
		}
		word, _, err := stubs.Word(v)
		if err != nil {
			t.Fatal(err)
		}
		snapshot[r.Offset] = word
	}
	if used != len(values) {
		t.Fatalf("%q reads %+v, not all of %v", p.Text, p.Reads, values)
	}
	out, _, err := ir.Interpret(p, snapshot)
	if err != nil {
		t.Fatalf("%q: %v", p.Text, err)
	}
	return out
}
