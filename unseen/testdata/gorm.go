package gorm_test

import (
	"context"
	"fmt"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

type UnseenAuthor struct {
	ID    uint
	Name  string
	Books []UnseenBook `gorm:"foreignKey:AuthorID"`
}

type UnseenBook struct {
	ID       uint
	AuthorID uint
	Title    string
	Labels   []UnseenLabel `gorm:"many2many:unseen_book_labels"`
}

type UnseenLabel struct {
	ID   uint
	Text string
}

// The connection is opened before the throws; what it caches of the models is not.
var unseenDB *gorm.DB

func init() {
	var err error
	unseenDB, err = gorm.Open(sqlite.Open("file:unseen?mode=memory&cache=shared"), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		panic(err)
	}
	db, err := unseenDB.DB()
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(2)
	for _, statement := range []string{
		"create table unseen_authors (id integer primary key, name text)",
		"create table unseen_books (id integer primary key, author_id integer, title text)",
		"create table unseen_labels (id integer primary key, text text)",
		"create table unseen_book_labels (unseen_book_id integer, unseen_label_id integer)",
	} {
		if _, err := db.Exec(statement); err != nil {
			panic(err)
		}
	}
	for i := range 30 {
		for _, statement := range []string{
			fmt.Sprintf("insert into unseen_authors values (%d, 'author %d')", i+1, i),
			fmt.Sprintf("insert into unseen_books values (%d, %d, 'title %d')", 2*i+1, i+1, i),
			fmt.Sprintf("insert into unseen_books values (%d, %d, 'other title %d')", 2*i+2, i+1, i),
			fmt.Sprintf("insert into unseen_labels values (%d, 'label %d')", i+1, i),
			fmt.Sprintf("insert into unseen_book_labels values (%d, %d)", 2*i+1, i+1),
		} {
			if _, err := db.Exec(statement); err != nil {
				panic(err)
			}
		}
	}
	victim.Run(func(ctx context.Context) (any, error) {
		sum := 0
		for range 5 {
			var authors []UnseenAuthor
			if err := unseenDB.WithContext(ctx).Preload("Books.Labels").Order("id").Find(&authors).Error; err != nil {
				return nil, err
			}
			for _, a := range authors {
				for _, b := range a.Books {
					sum += len(a.Name) + len(b.Title) + len(b.Labels)
				}
			}
		}
		return []int{sum, db.Stats().InUse}, nil
	})
}
