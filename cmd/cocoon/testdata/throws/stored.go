package main

import "fmt"

// lender lends places, which callers keep in a slice before they defer the return.
type lender struct {
	free chan *pool
	work pool
}

const lent = 4

func (l *lender) take() *pool {
	p := <-l.free
	return p
}

// storing takes several places of a lender in several ways, and computes in between.
func storing() engine {
	l := &lender{free: make(chan *pool, lent)}
	for range lent {
		l.free <- new(pool)
	}
	return engine{
		"stored acquisitions",
		func() error {
			for {
				l.work.compute()
				l.appended()
				l.elements()
				l.sent()
				l.byClosure()
			}
		},
		func() error {
			if n := len(l.free); n != lent {
				return fmt.Errorf("%d of %d places came back", n, lent)
			}
			return nil
		},
	}
}

func (l *lender) appended() {
	var all []*pool
	for range 2 {
		p := l.take()
		l.work.compute()
		all = append(all, p)
	}
	l.work.compute()
	defer l.giveBack(all)
}

func (l *lender) elements() {
	all := make([]*pool, 2)
	for i := range all {
		p := l.take()
		l.work.compute()
		all[i] = p
	}
	defer l.giveBack(all)
}

func (l *lender) giveBack(all []*pool) {
	for _, p := range all {
		l.free <- p
	}
}

func (l *lender) sent() {
	p := l.take()
	q := l.take()
	l.work.compute()
	defer func() { l.free <- p; l.free <- q }()
}

func (l *lender) byClosure() {
	p := l.take()
	l.work.compute()
	release := func() { l.free <- p }
	l.work.compute()
	defer release()
}
