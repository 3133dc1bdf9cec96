package xorm_test

import (
	"context"
	"fmt"

	"github.com/cocoon-go/cocoon/unseen/victim"
	_ "github.com/glebarez/go-sqlite"
	"xorm.io/xorm"
	"xorm.io/xorm/dialects"
)

type UnseenItem struct {
	ID    int64 `xorm:"pk 'id'"`
	Name  string
	Price float64
}

var unseenEngine *xorm.Engine

func init() {
	victim.Run(func(ctx context.Context) (any, error) {
		if unseenEngine == nil {
			dialects.RegisterDriver("sqlite", dialects.QueryDriver("sqlite3"))
			dialects.RegisterDialect("sqlite", func() dialects.Dialect { return dialects.QueryDialect("sqlite3") })
			e, err := xorm.NewEngine("sqlite", "file:unseen?mode=memory&cache=shared")
			if err != nil {
				return nil, err
			}
			e.SetMaxOpenConns(2)
			unseenEngine = e
		}
		e := unseenEngine
		if err := e.Sync(new(UnseenItem)); err != nil {
			return nil, err
		}
		if _, err := e.Exec("delete from unseen_item"); err != nil {
			return nil, err
		}
		var items []UnseenItem
		for i := range 150 {
			items = append(items, UnseenItem{int64(i + 1), fmt.Sprint("item ", i), float64(i) / 2})
		}
		if _, err := e.Context(ctx).Insert(&items); err != nil {
			return nil, err
		}
		sum := 0.0
		for range 10 {
			var back []UnseenItem
			if err := e.Context(ctx).Where("price > ?", 20).Desc("id").Find(&back); err != nil {
				return nil, err
			}
			for _, x := range back {
				sum += x.Price
			}
		}
		return []any{sum, e.DB().Stats().InUse}, nil
	})
}
