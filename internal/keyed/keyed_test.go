package keyed

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"
)

const second = int64(time.Second)

// model is a table that is too slow to be wrong.
type model struct {
	bound int
	ttl   int64
	keys  []modelKey // the last used is the last
	gone  [2]int64   // evicted, expired
}

type modelKey struct {
	key, word uint64
	at, order int64
}

func (m *model) at(key uint64) int {
	return slices.IndexFunc(m.keys, func(k modelKey) bool { return k.key == key })
}

func (m *model) over(k modelKey, now int64) bool { return m.ttl > 0 && now-k.at > m.ttl }

func (m *model) get(key uint64, now int64) (uint64, bool) {
	i := m.at(key)
	if i < 0 {
		return 0, false
	}
	k := m.keys[i]
	m.keys = slices.Delete(m.keys, i, i+1)
	if k.at > now+second {
		k.at = now
	}
	if m.over(k, now) {
		m.gone[1]++
		return 0, false
	}
	m.keys = append(m.keys, k)
	return k.word, true
}

// expire drops the key that was written first, if its time is over.
func (m *model) expire(now int64) bool {
	first := -1
	for i, k := range m.keys {
		if first < 0 || k.order < m.keys[first].order {
			first = i
		}
	}
	if first < 0 || !m.over(m.keys[first], now) {
		return false
	}
	m.keys = slices.Delete(m.keys, first, first+1)
	m.gone[1]++
	return true
}

func (m *model) put(key, word uint64, now, order int64) {
	at := now
	if i := m.at(key); i >= 0 {
		if was := m.keys[i].at; was > now && was <= now+second {
			at = was
		}
		m.keys = slices.Delete(m.keys, i, i+1)
	} else if len(m.keys) == m.bound && !m.expire(now) {
		m.keys = m.keys[1:]
		m.gone[0]++
	}
	m.keys = append(m.keys, modelKey{key, word, at, order})
	if m.expire(now) {
		m.expire(now)
	}
}

// compare makes the same calls of a table and of the model, while the clock goes forwards and back.
// draw returns a number below n.
func compare(t *testing.T, bound int, ttl, steps int64, draw func(n int) int) {
	t.Helper()
	const step = second / 100
	table, m := New(bound, ttl*step), &model{bound: bound, ttl: ttl * step}
	now := int64(0)
	for i := range steps {
		switch now += step; draw(400) {
		case 0:
			now += 1000 * step
		case 1:
			now -= 500 * step
		case 2, 3:
			now -= int64(draw(100)) * step
		}
		key := uint64(draw(2 * bound))
		switch draw(5) {
		case 0, 1:
			word, at, ok := table.Get(key, now)
			want, wantOK := m.get(key, now)
			if word != want || ok != wantOK || ok && at > now+second {
				t.Fatalf("bound %d, step %d: key %d is %d, %v at %d; want %d, %v by %d", bound, i, key, word, ok, at, want, wantOK, now)
			}
		case 2, 3:
			table.Put(key, uint64(i), now)
			m.put(key, uint64(i), now, i)
		default:
			if draw(10) == 0 {
				table.Remove(key)
				if i := m.at(key); i >= 0 {
					m.keys = slices.Delete(m.keys, i, i+1)
				}
			}
		}
		if table.Len() != len(m.keys) || table.Evicted() != m.gone[0] || table.Expired() != m.gone[1] {
			t.Fatalf("bound %d, step %d: %d keys, %d evicted, %d expired; want %d and %v", bound, i,
				table.Len(), table.Evicted(), table.Expired(), len(m.keys), m.gone)
		}
	}
}

// TestTable compares a table with the model, over random calls.
func TestTable(t *testing.T) {
	for _, c := range []struct {
		bound int
		ttl   int64
	}{{1, 0}, {2, 5}, {7, 0}, {8, 20}, {100, 300}, {blockSize + 3, 0}} {
		compare(t, c.bound, c.ttl, 20_000, rand.New(rand.NewPCG(uint64(c.bound), 7)).IntN)
	}
}

// FuzzTable compares a table with the model, over calls that the fuzzer makes up.
func FuzzTable(f *testing.F) {
	f.Add(uint8(1), uint16(0), []byte("0123456789abcdef"))
	f.Add(uint8(7), uint16(20), []byte("the quick brown fox jumps over the lazy dog"))
	f.Fuzz(func(t *testing.T, bound uint8, ttl uint16, calls []byte) {
		steps := int64(len(calls) / 3)
		compare(t, 1+int(bound), int64(ttl), steps, func(n int) (drawn int) {
			for i := 0; i < 2 && len(calls) > 0; i++ {
				drawn, calls = drawn<<8|int(calls[0]), calls[1:]
			}
			return drawn % n
		})
	})
}

// TestMillionKeys: keys that come once each leave the table as large as it was declared.
func TestMillionKeys(t *testing.T) {
	const bound = 10_000
	table := New(bound, 0)
	for i := range uint64(1_000_000) {
		table.Put(i*0x9e3779b97f4a7c15, i, int64(i))
	}
	if table.Len() != bound || table.Evicted() != 1_000_000-bound {
		t.Errorf("%d keys, %d evicted", table.Len(), table.Evicted())
	}
	entries := 0
	for _, b := range table.blocks {
		entries += cap(b)
	}
	if entries != bound+1 || len(table.heads) > 2*bound || unsafe.Sizeof(entry{}) != 48 {
		t.Errorf("%d entries of %d bytes, an index of %d", entries, unsafe.Sizeof(entry{}), len(table.heads))
	}
	key := uint64(0)
	if n := testing.AllocsPerRun(1000, func() { key++; table.Put(key, 1, 2_000_000) }); n != 0 {
		t.Errorf("%v allocations a key", n)
	}
}

// TestPeek: to look at a key does not use it.
func TestPeek(t *testing.T) {
	table := New(2, 10)
	table.Put(1, 11, 0)
	table.Put(2, 22, 0)
	if word, _, ok := table.Peek(1, 5); word != 11 || !ok {
		t.Errorf("got %d, %v", word, ok)
	}
	if _, _, ok := table.Peek(1, 11); ok || table.Len() != 2 {
		t.Errorf("it is there after its time: %v, %d keys", ok, table.Len())
	}
	table.Put(3, 33, 6)
	if _, _, ok := table.Peek(1, 6); ok {
		t.Error("the key that was looked at stays")
	}
}

func TestBucket(t *testing.T) {
	table := New(1, 0)
	has := func(now int64) float64 {
		if left, at, ok := table.Get(0, now); ok {
			return Tokens(left, at, now, 10, 5)
		}
		return 5
	}
	take := func(now int64, n float64) bool {
		there := has(now)
		if there < n {
			return false
		}
		table.Put(0, math.Float64bits(there-n), now)
		return true
	}
	for i := range 10 {
		if got := take(0, 1); got != (i < 5) {
			t.Errorf("take %d: %v", i, got)
		}
	}
	if take(second/10-1, 1) || !take(second/10, 1) || take(second/10, 1) {
		t.Error("a token does not come each tenth of a second")
	}
	// A clock that leaps forward fills the bucket, and no more. One that leaps back takes nothing
	// away, and the bucket is refilled from there.
	if leap := int64(1 << 62); has(leap) != 5 || !take(leap, 5) {
		t.Error("the bucket is not full")
	}
	if back := -2 * second; take(back, 1) || take(back+second/20, 1) || !take(back+second/10, 1) {
		t.Error("the bucket stands still after a clock went back")
	}
	// Evaluations that overtake each other do not count the same time twice.
	begin, taken := 10*second, 0
	take(begin, 5)
	for i := range int64(1000) {
		for _, early := range []int64{0, second / 2} {
			if take(begin+i*second/1000-early, 1) {
				taken++
			}
		}
	}
	if taken != 9 {
		t.Errorf("%d tokens came in a second, and 10 a second do", taken)
	}
}

// A token is there in the nanosecond in which it is due, whatever the last take has left.
func TestTokensWhenDue(t *testing.T) {
	for _, rate := range []int64{1, 2, 5, 10, 50, 100, 1000} {
		for left := range int64(1000) { // thousandths of a token
			due := (1000 - left) * 1_000_000 / rate
			if tokens := Tokens(math.Float64bits(float64(left)/1000), 0, due, float64(rate), 5); tokens < 1 {
				t.Fatalf("rate %d, %d thousandths: %v tokens after %d ns", rate, left, tokens, due)
			}
			if tokens := Tokens(math.Float64bits(float64(left)/1000), 0, due-1000, float64(rate), 5); tokens >= 1 {
				t.Fatalf("rate %d, %d thousandths: %v tokens a microsecond early", rate, left, tokens)
			}
		}
	}
}
