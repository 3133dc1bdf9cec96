// Package keyed is the memory of keyed states and of token buckets: a table of words by key, with a
// bound on the keys. It is pure: it has no lock and no clock, and its callers serialise its use.
package keyed

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Table holds a word for each of so many keys at most. For a key that is new it drops the one that
// was not used for the longest time. A key that was not written for the time to live is no longer
// there.
//
// A key takes 48 bytes and 4 to 8 bytes of an index, made when the table is. Memory for keys is
// taken a block at a time, as keys come, and kept: what allocates is one write of a new key in 512,
// until there are as many keys as allowed.
type Table struct {
	bound  int32
	ttl    int64
	heads  []int32   // by the low bits of a key: the first entry of its chain, or 0
	blocks [][]entry // entry 0 is the end of all lists
	made   int32     // entries that were ever used, without entry 0
	free   int32     // the first of those that are free again, linked by next

	// The counters may be read at any time.
	keys, evicted, expired atomic.Int64
}

// entry is a key. It holds no pointers, so that the collector passes over a table.
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

// New returns a table for so many keys, at least 1; ttl is in ns, and with 0 keys do not expire.
func New(keys int, ttl int64) *Table {
	t := &Table{bound: int32(keys), ttl: ttl}
	t.heads = make([]int32, 1<<bits.Len(uint(t.bound-1)))
	t.grow(0)
	return t
}

// Bound returns how many keys the table holds at most.
func (t *Table) Bound() int { return int(t.bound) }

// Len returns how many keys there are, those included that have expired since they were last looked
// at.
func (t *Table) Len() int { return int(t.keys.Load()) }

// Evicted returns how many keys were dropped for others.
func (t *Table) Evicted() int64 { return t.evicted.Load() }

// Expired returns how many keys were dropped because their time was over.
func (t *Table) Expired() int64 { return t.expired.Load() }

// SetTTL changes the time to live, also of the keys that are there.
func (t *Table) SetTTL(ttl int64) { t.ttl = ttl }

// leap is how far a clock goes back before the time of a key counts from there, as if the key were
// written now. By less evaluations overtake each other between reading the clock and coming here,
// and would otherwise count the same time twice. For so long time stands still at most.
const leap = int64(time.Second)

// Get returns the word of a key and when it was written, and uses the key.
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

// Peek is Get, and changes nothing: it does not use the key.
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

// Remove drops a key, if it is there.
func (t *Table) Remove(key uint64) {
	if i := t.find(key); i != 0 {
		t.drop(i)
	}
}

// sweep drops up to two keys that have expired. Each write adds one key at most, so it keeps up.
func (t *Table) sweep(now int64) {
	for range 2 {
		if !t.expire(now) {
			return
		}
	}
}

// expire drops the key that was not written for the longest time, if it has expired.
func (t *Table) expire(now int64) bool {
	i := t.entry(0).links[written].before
	if t.ttl <= 0 || i == 0 || !t.over(t.entry(i), now) {
		return false
	}
	t.drop(i)
	t.expired.Add(1)
	return true
}

// since returns the time from which a key counts that was written at some time.
func since(at, now int64) int64 {
	if at > now && at-now > leap {
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

// insert makes an entry of a key that is not there.
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

// grow makes the block of an entry, if it is the first in it.
func (t *Table) grow(i int32) {
	if int(i)/blockSize == len(t.blocks) {
		t.blocks = append(t.blocks, make([]entry, min(blockSize, t.bound+1-i)))
	}
}

// drop takes an entry out.
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
