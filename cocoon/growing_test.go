package cocoon

import "testing"

// A growing map has few layers, and copies each entry few times.
func TestGrowing(t *testing.T) {
	const n = 10_000
	var g growing[int, int]
	copied, most := 0, 0
	for i := range n {
		g.extend(map[int]int{i: -i})
		all := g.layers()
		copied += len(all[len(all)-1])
		most = max(most, len(all))
	}
	for i := range n {
		if v, ok := g.get(i); !ok || v != -i {
			t.Fatalf("%d is %d, %v", i, v, ok)
		}
	}
	if _, ok := g.get(n); ok {
		t.Error("it has an entry that was not added")
	}
	if most > 8 || copied > 40*n {
		t.Errorf("%d layers, and %d copies of %d entries", most, copied, n)
	}
}
