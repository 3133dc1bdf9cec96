// Package keyed stores keyed states and token buckets: a table of words by key, with a limit on the
// keys. It is pure: it has no lock and no clock, and its callers serialise its use.
package keyed

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Table holds a word for each key, up to a limit. A new key beyond the limit evicts the least
// recently used one. A key expires when it has not been written for the time to live.
//
// A key takes 48 bytes, and 4 to 8 bytes of an index allocated with the table. Memory for keys is
// allocated one block at a time as keys are added, and never freed: one write of a new key in 512
// allocates, until the table has reached its limit.
type Table struct {
	bound  int32
	ttl    int64
	heads  []int32   // by the low bits of a key: the first entry of its chain, or 0
	blocks [][]entry // entry 0 is the end of all lists
	made   int32     // entries used so far, without entry 0
	free   int32     // the first freed entry; linked by next

	// The counters may be read at any time.
	keys, evicted, expired atomic.Int64
}

// entry is a key. It holds no pointers, so the garbage collector does not scan a table.
type entry struct {
	key, word uint64
	at        int64 // when it was written
	links     [2]link
	next      int32 // in its chain
}

// link is an entry's place in a list: before is more recent.
type link struct{ before, after int32 }

// The lists of a table: by the last use, and by the last write.
const (
	used    = 0
	written = 1
)

// blockSize is the entries of a block, a power of two.
const blockSize = 512

// New returns a table for up to the given number of keys, at least 1; ttl is in ns, and 0 means
// that keys do not expire.
func New(keys int, ttl int64) *Table {
	t := &Table{bound: int32(keys), ttl: ttl}
	t.heads = make([]int32, 1<<bits.Len(uint(t.bound-1)))
	t.grow(0)
	return t
}

// Bound returns the greatest number of keys that the table holds.
func (t *Table) Bound() int { return int(t.bound) }

// Len returns the number of keys, including expired ones that no operation has removed yet.
func (t *Table) Len() int { return int(t.keys.Load()) }

// Evicted returns the number of keys that were evicted for new ones.
func (t *Table) Evicted() int64 { return t.evicted.Load() }

// Expired returns the number of keys that were removed because they had expired.
func (t *Table) Expired() int64 { return t.expired.Load() }

// SetTTL changes the time to live of all keys, including existing ones.
func (t *Table) SetTTL(ttl int64) { t.ttl = ttl }

// maxAhead is how far the time of a key's last write may lie ahead of now. Evaluations overtake
// each other between reading the clock and calling this package, so a write may come with a later
// time than the next one. Time then stands still for the key, so that no time is counted twice. If
// the recorded time is further ahead, the clock was set back, and the recorded time counts as now.
const maxAhead = int64(time.Second)

// Get returns the word of a key and the time of its last write. It counts as a use of the key.
func (t *Table) Get(key uint64, now int64) (word uint64, at int64, ok bool) {
	i := t.find(key)
	if i == 0 {
		return 0, 0, false
	}
	e := t.entry(i)
	if e.at = since(e.at, now); t.over(e, now) {
		t.drop(i)
		t.expired.Add(1)
		return 0, 0, false
	}
	t.first(used, i)
	return e.word, e.at, true
}

// Peek is Get without side effects: it does not count as a use of the key.
func (t *Table) Peek(key uint64, now int64) (word uint64, at int64, ok bool) {
	i := t.find(key)
	if i == 0 {
		return 0, 0, false
	}
	e := t.entry(i)
	if t.over(e, now) {
		return 0, 0, false
	}
	return e.word, since(e.at, now), true
}

// Put writes the word of a key.
func (t *Table) Put(key, word uint64, now int64) {
	i := t.find(key)
	if i == 0 {
		i = t.insert(key, now)
	}
	e := t.entry(i)
	e.word, e.at = word, max(now, since(e.at, now))
	t.first(used, i)
	t.first(written, i)
	t.sweep(now)
}

// Remove removes a key, if it exists.
func (t *Table) Remove(key uint64) {
	if i := t.find(key); i != 0 {
		t.drop(i)
	}
}

// sweep removes up to two expired keys. Each write adds at most one key, so this is enough.
func (t *Table) sweep(now int64) {
	for range 2 {
		if !t.expire(now) {
			return
		}
	}
}

// expire removes the key with the oldest write, if it has expired.
func (t *Table) expire(now int64) bool {
	i := t.entry(0).links[written].before
	if t.ttl <= 0 || i == 0 || !t.over(t.entry(i), now) {
		return false
	}
	t.drop(i)
	t.expired.Add(1)
	return true
}

// since returns the effective time of a key's write, given the recorded time at.
func since(at, now int64) int64 {
	if at > now && at-now > maxAhead {
		return now
	}
	return at
}

func (t *Table) over(e *entry, now int64) bool { return t.ttl > 0 && now-e.at > t.ttl }

func (t *Table) entry(i int32) *entry { return &t.blocks[i/blockSize][i%blockSize] }

func (t *Table) head(key uint64) *int32 { return &t.heads[key&uint64(len(t.heads)-1)] }

// find returns the entry of a key, or 0.
func (t *Table) find(key uint64) int32 {
	i := *t.head(key)
	for i != 0 {
		e := t.entry(i)
		if e.key == key {
			return i
		}
		i = e.next
	}
	return 0
}

// insert adds an entry for a key that has none.
func (t *Table) insert(key uint64, now int64) int32 {
	if t.free == 0 && t.made == t.bound && !t.expire(now) {
		t.drop(t.entry(0).links[used].before)
		t.evicted.Add(1)
	}
	i := t.free
	if i != 0 {
		t.free = t.entry(i).next
	} else {
		t.made++
		i = t.made
		t.grow(i)
	}
	head := t.head(key)
	*t.entry(i) = entry{key: key, at: now, next: *head}
	*head = i
	for list := range t.entry(i).links {
		t.link(list, i)
	}
	t.keys.Add(1)
	return i
}

// grow allocates the block of an entry, if the entry is its first.
func (t *Table) grow(i int32) {
	if int(i)/blockSize == len(t.blocks) {
		t.blocks = append(t.blocks, make([]entry, min(blockSize, t.bound+1-i)))
	}
}

// drop removes an entry.
func (t *Table) drop(i int32) {
	e := t.entry(i)
	at := t.head(e.key)
	for *at != i {
		at = &t.entry(*at).next
	}
	*at = e.next
	for list := range e.links {
		t.unlink(list, i)
	}
	e.next, t.free = t.free, i
	t.keys.Add(-1)
}

// first puts an entry at the front of a list.
func (t *Table) first(list int, i int32) {
	if t.entry(0).links[list].after != i {
		t.unlink(list, i)
		t.link(list, i)
	}
}

func (t *Table) link(list int, i int32) {
	end := &t.entry(0).links[list]
	t.entry(i).links[list] = link{0, end.after}
	t.entry(end.after).links[list].before = i
	end.after = i
}

func (t *Table) unlink(list int, i int32) {
	l := t.entry(i).links[list]
	t.entry(l.before).links[list].after = l.after
	t.entry(l.after).links[list].before = l.before
}
