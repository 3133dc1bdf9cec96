package stubs

import "testing"

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
