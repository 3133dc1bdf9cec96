package main

import (
	"encoding/binary"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// summary is the result of a scan: the number of records read, and the value of these orders in
// cents.
type summary struct {
	Count int    `json:"count"`
	Total uint64 `json:"total"`
}

var bucket = []byte("records")

// store is a bbolt file of records, each an encoded order, opened for reading. It is safe for
// concurrent use.
type store struct{ db *bbolt.DB }

// fill makes the database file at path with the records 0 to count-1.
func fill(path string, count int) error {
	// The file lives only as long as the program, so it need not be synced.
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, NoGrowSync: true, NoFreelistSync: true})
	if err != nil {
		return err
	}
	const batch = 20_000
	for first := 0; first < count && err == nil; first += batch {
		err = db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists(bucket)
			if err != nil {
				return err
			}
			b.FillPercent = 1 // the keys come in order
			for id := first; id < min(first+batch, count); id++ {
				if err := b.Put(key(uint64(id)), makeOrder(uint64(id)).encode()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if closeErr := db.Close(); err == nil {
		err = closeErr
	}
	return err
}

// openStore opens a file made by fill. Several processes may open it concurrently.
func openStore(path string) (*store, error) {
	db, err := bbolt.Open(path, 0o400, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	return &store{db}, nil
}

func (s *store) close() error { return s.db.Close() }

// get returns the encoded record with the given id, or nil.
func (s *store) get(id uint64) (value []byte, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		// bbolt's slice is valid only within the transaction.
		value = append(value, tx.Bucket(bucket).Get(key(id))...)
		return nil
	})
	return value, err
}

// scan decodes and sums up the records from <= id < to, and calls pause after every few records
// (about 15 µs).
func (s *store) scan(from, to uint64, pause func()) (sum summary, err error) {
	const stride = 64
	err = s.db.View(func(tx *bbolt.Tx) error {
		cursor := tx.Bucket(bucket).Cursor()
		for k, v := cursor.Seek(key(from)); k != nil && binary.BigEndian.Uint64(k) < to; k, v = cursor.Next() {
			o, err := decode(v)
			if err != nil {
				return fmt.Errorf("record %d: %w", binary.BigEndian.Uint64(k), err)
			}
			sum.Total += o.total()
			if sum.Count++; sum.Count%stride == 0 {
				pause()
			}
		}
		return nil
	})
	return sum, err
}

// key is the big-endian id, so that the order of keys is the order of ids.
func key(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }
