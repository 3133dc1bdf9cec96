package memdb

import (
	"context"
	"fmt"

	"github.com/cocoon-go/cocoon/unseen/victim"
)

type unseenPerson struct {
	Email, Name string
	Age         int
}

func init() {
	db, err := NewMemDB(&DBSchema{Tables: map[string]*TableSchema{"person": {Name: "person", Indexes: map[string]*IndexSchema{
		"id":  {Name: "id", Unique: true, Indexer: &StringFieldIndex{Field: "Email"}},
		"age": {Name: "age", Indexer: &IntFieldIndex{Field: "Age"}},
	}}}})
	if err != nil {
		panic(err)
	}
	// The database stays: a throw must not leave its writer locked, or half a transaction.
	victim.Run(func(context.Context) (any, error) {
		if err := unseenWrite(db); err != nil {
			return nil, err
		}
		it, err := db.Txn(false).Get("person", "id")
		if err != nil {
			return nil, err
		}
		n, sum := 0, 0
		for p := it.Next(); p != nil; p = it.Next() {
			n++
			sum += p.(*unseenPerson).Age
		}
		return []int{n, sum}, nil
	})
}

func unseenWrite(db *MemDB) error {
	tx := db.Txn(true)
	defer tx.Abort()
	for i := range 3000 {
		if err := tx.Insert("person", &unseenPerson{fmt.Sprintf("p%d@example.org", i), victim.Text(2), i % 90}); err != nil {
			return err
		}
	}
	tx.Commit()
	return nil
}
