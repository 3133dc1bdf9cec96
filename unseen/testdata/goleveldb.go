package leveldb_test

import (
	"context"
	"fmt"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/storage"
)

var unseenDB *leveldb.DB

func init() {
	victim.Run(func(context.Context) (any, error) {
		if unseenDB == nil {
			db, err := leveldb.Open(storage.NewMemStorage(), nil)
			if err != nil {
				return nil, err
			}
			unseenDB = db
		}
		for n := range 20 {
			batch := new(leveldb.Batch)
			for i := range 300 {
				key := fmt.Appendf(nil, "key %05d", (300*n+i)*7919%6000)
				batch.Put(key, key)
			}
			if err := unseenDB.Write(batch, nil); err != nil {
				return nil, err
			}
		}
		keys := 0
		all := unseenDB.NewIterator(nil, nil)
		defer all.Release()
		for all.Next() {
			keys += len(all.Value())
		}
		return keys, all.Error()
	})
}
