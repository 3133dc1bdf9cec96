package stubs

import (
	"strconv"
	"strings"
	"testing"
)

func TestKindsAreNames(t *testing.T) {
	for i, want := range []string{"atomic", "preemptible", "safe", "both"} {
		if got := Kinds[i].String(); got != want || KindNames[i] != want {
			t.Errorf("Kinds[%d] is %q and %q, want %q", i, got, KindNames[i], want)
		}
		if Intern(want) != Kinds[i] {
			t.Errorf("Intern(%q) is %d, want %d", want, Intern(want), Kinds[i])
		}
	}
	if Intern("") != 0 || NameID(0).String() != "" {
		t.Errorf("Intern of \"\": %d, %q", Intern(""), NameID(0))
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

// However many names there were before, equal ones stay equal and others differ.
func TestAnyNumberOfNames(t *testing.T) {
	const n = 200_000
	known := Intern("known")
	seen := make(map[NameID]int, n)
	for i := range n {
		id := Intern(strconv.Itoa(i))
		if was, twice := seen[id]; twice || id == 0 || id == known {
			t.Fatalf("%d and %d have the number %d", was, i, id)
		}
		seen[id] = i
	}
	if Intern("known") != known || Intern(strings.Clone("known")) != known || seen[Intern("77")] != 77 {
		t.Error("a name is another afterwards")
	}
	long := strings.Repeat("x", MaxName)
	if Intern(long) == Intern(long+"x") {
		t.Error("long names are one")
	}
	if got := testing.AllocsPerRun(100, func() { Intern(long) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
