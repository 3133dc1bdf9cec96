package bbolt_test

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"

	"github.com/cocoon-go/cocoon/unseen/victim"
	bolt "go.etcd.io/bbolt"
)

var unseenDB *bolt.DB

// The database stays open: a throw must not leave a transaction open, or a lock locked.
func unseenOpen() (*bolt.DB, error) {
	if unseenDB != nil {
		return unseenDB, nil
	}
	folder, err := os.MkdirTemp("", "unseen-bolt-")
	if err != nil {
		return nil, err
	}
	unseenDB, err = bolt.Open(filepath.Join(folder, "db"), 0o600, &bolt.Options{NoSync: true})
	return unseenDB, err
}

func init() {
	victim.Run(func(context.Context) (any, error) {
		db, err := unseenOpen()
		if err != nil {
			return nil, err
		}
		err = db.Update(func(tx *bolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("numbers"))
			if err != nil {
				return err
			}
			for i := range uint64(20_000) {
				key := binary.BigEndian.AppendUint64(nil, i*7919%20_000)
				if err := b.Put(key, key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		keys := 0
		err = db.View(func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("numbers")).ForEach(func(k, v []byte) error { keys++; return nil })
		})
		return []int{keys, db.Stats().OpenTxN}, err
	})
}
