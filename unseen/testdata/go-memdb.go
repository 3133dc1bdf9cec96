package memdb_test

import (
	"context"
	"fmt"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/hashicorp/go-memdb"
)

type unseenPerson struct {
	Name string
	Age  int
}

var unseenDB *memdb.MemDB

func init() {
	schema := &memdb.DBSchema{Tables: map[string]*memdb.TableSchema{"person": {Name: "person", Indexes: map[string]*memdb.IndexSchema{
		"id":  {Name: "id", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "Name"}},
		"age": {Name: "age", Indexer: &memdb.IntFieldIndex{Field: "Age"}},
	}}}}
	victim.Run(func(context.Context) (any, error) {
		if unseenDB == nil {
			db, err := memdb.NewMemDB(schema)
			if err != nil {
				return nil, err
			}
			unseenDB = db
		}
		tx := unseenDB.Txn(true)
		defer tx.Abort() // nothing after Commit
		for i := range 2000 {
			if err := tx.Insert("person", &unseenPerson{fmt.Sprint("person ", i*7919%2000), i % 50}); err != nil {
				return nil, err
			}
		}
		tx.Commit()
		all, err := unseenDB.Txn(false).Get("person", "age", 7)
		if err != nil {
			return nil, err
		}
		n := 0
		for p := all.Next(); p != nil; p = all.Next() {
			n++
		}
		return n, nil
	})
}
