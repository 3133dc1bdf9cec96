package buntdb_test

import (
	"context"
	"fmt"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/tidwall/buntdb"
)

var unseenDB *buntdb.DB

func init() {
	victim.Run(func(context.Context) (any, error) {
		if unseenDB == nil {
			db, err := buntdb.Open(":memory:")
			if err != nil {
				return nil, err
			}
			unseenDB = db
			if err := db.CreateIndex("names", "name:*", buntdb.IndexString); err != nil {
				return nil, err
			}
		}
		err := unseenDB.Update(func(tx *buntdb.Tx) error {
			for i := range 600 {
				n := i * 7919 % 600
				if _, _, err := tx.Set(fmt.Sprint("name:", n), fmt.Sprint("value ", n), nil); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		sum := 0
		err = unseenDB.View(func(tx *buntdb.Tx) error {
			return tx.Ascend("names", func(key, value string) bool { sum += len(value); return true })
		})
		return sum, err
	})
}
