package stubs

import (
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

func TestKindsAreNames(t *testing.T) {
	for i, want := range []string{"atomic", "preemptible", "safe", "both"} {
		if got := Kinds[i].String(); got != want {
			t.Errorf("Kinds[%d] is %q, want %q", i, got, want)
		}
		if Intern(want) != Kinds[i] {
			t.Errorf("Intern(%q) is %d, want %d", want, Intern(want), Kinds[i])
		}
	}
	if Intern("") != 0 || Intern("other") != Other {
		t.Errorf("Intern of \"\" and other: %d, %d", Intern(""), Intern("other"))
	}
}

func TestCatalogueIsIndexedByID(t *testing.T) {
	if len(Catalogue) != int(State) {
		t.Fatalf("%d stubs, want %d", len(Catalogue), State)
	}
	for i, s := range Catalogue {
		if s.ID != ID(i) {
			t.Errorf("%s has ID %d at index %d", s.Path, s.ID, i)
		}
	}
}

// What a table of so many names may hold is bounded: names from outside are no longer than those of policies, and keep nothing
// else in memory.
func TestLongNames(t *testing.T) {
	if got := InternOutside(strings.Repeat("x", MaxName+1)); got != Other {
		t.Errorf("a name that is too long is %d", got)
	}
	if got := InternOutside(strings.Repeat("x", MaxName)); got == Other || len(got.String()) != MaxName {
		t.Errorf("the longest name is %d", got)
	}
	request := strings.Repeat("y", 1<<20)
	part := request[:10]
	if got := InternOutside(part).String(); got != part || unsafe.StringData(got) == unsafe.StringData(part) {
		t.Errorf("%q keeps all of what it is part of", got)
	}
}

// A flood of names from outside leaves room for those of policies, and what is known stays known.
func TestFloodOfNames(t *testing.T) {
	known := InternOutside("known")
	for i := range MaxNames {
		InternOutside(strconv.Itoa(i))
	}
	if got := InternOutside("one too many"); got != Other {
		t.Errorf("after the flood a new name from outside is %d", got)
	}
	id := Intern("of a policy")
	if id == Other || id.String() != "of a policy" || InternOutside("of a policy") != id {
		t.Errorf("after the flood the name of a policy is %d, %q", id, id)
	}
	if InternOutside("known") != known {
		t.Error("a known name is forgotten")
	}
}
