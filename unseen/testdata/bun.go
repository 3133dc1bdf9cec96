package schema_test

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/cocoon-go/cocoon/unseen/victim"
	_ "github.com/glebarez/go-sqlite"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
)

type UnseenShelf struct {
	ID    int64 `bun:",pk"`
	Name  string
	Items []*UnseenItem `bun:"rel:has-many,join:id=shelf_id"`
}

type UnseenItem struct {
	ID      int64 `bun:",pk"`
	ShelfID int64
	Name    string
	Price   float64
}

// The connection is opened before the throws; what it caches of the models is not.
var unseenDB *bun.DB

func init() {
	db, err := sql.Open("sqlite", "file:unseen?mode=memory&cache=shared")
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(2)
	if _, err := db.Exec("create table unseen_shelves (id integer primary key, name text);" +
		"create table unseen_items (id integer primary key, shelf_id integer, name text, price real)"); err != nil {
		panic(err)
	}
	unseenDB = bun.NewDB(db, sqlitedialect.New())
	victim.Run(func(ctx context.Context) (any, error) {
		if _, err := unseenDB.ExecContext(ctx, "delete from unseen_items; delete from unseen_shelves"); err != nil {
			return nil, err
		}
		var shelves []UnseenShelf
		var items []UnseenItem
		for i := range int64(150) {
			if i < 10 {
				shelves = append(shelves, UnseenShelf{ID: i, Name: fmt.Sprint("shelf ", i)})
			}
			items = append(items, UnseenItem{i, i % 10, fmt.Sprint("item ", i), float64(i) / 2})
		}
		if _, err := unseenDB.NewInsert().Model(&shelves).Exec(ctx); err != nil {
			return nil, err
		}
		if _, err := unseenDB.NewInsert().Model(&items).Exec(ctx); err != nil {
			return nil, err
		}
		sum := 0.0
		for range 10 {
			var back []UnseenShelf
			if err := unseenDB.NewSelect().Model(&back).Relation("Items").Where("id > ?", 2).Scan(ctx); err != nil {
				return nil, err
			}
			for _, shelf := range back {
				for _, x := range shelf.Items {
					sum += x.Price
				}
			}
		}
		return []any{sum, db.Stats().InUse}, nil
	})
}
