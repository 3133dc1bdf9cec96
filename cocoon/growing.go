package cocoon

import (
	"maps"
	"sync/atomic"
)

// growing is a map to which one goroutine at a time adds entries while other goroutines read it
// without a lock. It consists of maps that do not change, the oldest and largest first. To add an
// entry copies only the small ones, so its cost grows with the logarithm of the number of entries,
// and so does the cost of a look-up. Entries added together are in one map.
type growing[K comparable, V any] struct {
	now atomic.Pointer[[]map[K]V]
}

// layerRatio is how many times larger a map is than the one after it, at least. A smaller ratio
// copies less, and makes look-ups slower.
const layerRatio = 4

// layers returns the maps.
func (g *growing[K, V]) layers() []map[K]V {
	if all := g.now.Load(); all != nil {
		return *all
	}
	return nil
}

func (g *growing[K, V]) get(key K) (value V, ok bool) {
	for _, m := range g.layers() {
		if value, ok = m[key]; ok {
			return value, true
		}
	}
	return value, false
}

// extend adds entries. Their keys must be new. It keeps more, which must not change later.
func (g *growing[K, V]) extend(more map[K]V) {
	if len(more) == 0 {
		return
	}
	all := g.layers()
	stay, size := len(all), len(more)
	for stay > 0 && len(all[stay-1]) < layerRatio*size {
		stay--
		size += len(all[stay])
	}
	last := more
	if stay < len(all) {
		last = make(map[K]V, size)
		for _, m := range all[stay:] {
			maps.Copy(last, m)
		}
		maps.Copy(last, more)
	}
	grown := append(all[:stay:stay], last)
	g.now.Store(&grown)
}

// put sets an entry of a map of maps.
func put[A, B comparable, V any](all map[A]map[B]V, a A, b B, v V) {
	if all[a] == nil {
		all[a] = map[B]V{}
	}
	all[a][b] = v
}
