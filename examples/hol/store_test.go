package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"
)

func testStore(tb testing.TB, count int) *store {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "records.db")
	if err := fill(path, count); err != nil {
		tb.Fatal(err)
	}
	db, err := openStore(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { db.close() })
	return db
}

func TestGet(t *testing.T) {
	db := testStore(t, 300)
	for _, id := range []uint64{0, 1, 255, 256, 299} {
		value, err := db.get(id)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := decode(value); err != nil || o != makeOrder(id) {
			t.Errorf("get(%d) = %+v, %v; want %+v", id, o, err, makeOrder(id))
		}
	}
	if value, err := db.get(300); value != nil || err != nil {
		t.Errorf("get behind the last record = %q, %v; want nothing", value, err)
	}
}

func TestScan(t *testing.T) {
	db := testStore(t, 300)
	for _, c := range []struct {
		from, to uint64
		count    int
		pauses   int
	}{
		{0, 300, 300, 4},
		{0, 64, 64, 1},
		{200, 264, 64, 1}, // crosses the 255/256 boundary: keys are ordered as numbers
		{7, 8, 1, 0},
		{5, 5, 0, 0},
		{9, 3, 0, 0},
		{290, 1 << 63, 10, 0},
		{300, 400, 0, 0},
	} {
		var want summary
		for id := c.from; id < min(c.to, 300); id++ {
			want.Count++
			want.Total += makeOrder(id).total()
		}
		pauses := 0
		got, err := db.scan(c.from, c.to, func() { pauses++ })
		if err != nil || got != want || got.Count != c.count || pauses != c.pauses {
			t.Errorf("scan(%d, %d) = %+v, %v with %d pauses; want %+v with %d", c.from, c.to, got, err, pauses, want, c.pauses)
		}
	}
}

func TestDecodeOfNoOrder(t *testing.T) {
	good := makeOrder(7).encode()
	for name, value := range map[string][]byte{
		"nothing":       nil,
		"its half":      good[:len(good)/2],
		"one more byte": append(good[:len(good):len(good)], 0),
		"no varint":     bytes.Repeat([]byte{0xff}, len(good)),
	} {
		if _, err := decode(value); !errors.Is(err, errMalformed) {
			t.Errorf("decode of %s: %v; want %v", name, err, errMalformed)
		}
	}
}

func TestOpenStoreOfNothing(t *testing.T) {
	if _, err := openStore(filepath.Join(t.TempDir(), "none.db")); err == nil {
		t.Error("a database that is not there was opened")
	}
}

// BenchmarkScan measures the work of one scan of the default size.
func BenchmarkScan(b *testing.B) {
	db := testStore(b, scanRecords)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := db.scan(0, scanRecords, func() {}); err != nil {
			b.Fatal(err)
		}
	}
}
