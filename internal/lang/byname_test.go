package lang

import "testing"

// The most specific entry counts: a name's own, else that of the most precise pattern.
func TestByName(t *testing.T) {
	b := NewByName(map[string]int{"GET /a/b": 1, "GET /a/*": 2, "GET *": 3, `run(*T).\*`: 4, "*z": 5, "*y*": 6})
	for _, c := range []struct {
		name      string
		want      int
		whole, ok bool
	}{
		{"GET /a/b", 1, true, true},
		{"GET /a/c", 2, false, true},
		{"GET /b", 3, false, true},
		{"GET yz", 3, false, true},
		{"run(*T).*", 4, true, true},
		{"run(*T).x", 0, false, false},
		{"yz", 6, false, true}, // of equal precision, the first text
		{"", 0, false, false},
	} {
		if got, whole, ok := b.Of(c.name); got != c.want || whole != c.whole || ok != c.ok {
			t.Errorf("%q: got %d, %v, %v; want %d, %v, %v", c.name, got, whole, ok, c.want, c.whole, c.ok)
		}
	}
	var none *ByName[int]
	if _, _, ok := none.Of("x"); ok {
		t.Error("no entries, and one is found")
	}
}
