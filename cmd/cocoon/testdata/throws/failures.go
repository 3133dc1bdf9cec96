package main

import (
	"errors"
	"fmt"
)

// attempts counts calls of functions that clean up if they fail, and how they ended.
type attempts struct {
	begun, failed, done int
	nested              error // of the clean-up
}

func (a *attempts) spin() {
	for range 20000 {
		a.nested = errors.Join(a.nested, nil)
	}
}

// cleanUp is a call that succeeds during a throw.
func (a *attempts) cleanUp() (err error) {
	defer func() { a.nested = errors.Join(a.nested, err) }()
	a.spin()
	return err
}

func (a *attempts) byLiteral() (err error) {
	a.begun++
	defer func() {
		if err == nil {
			a.done++
			return
		}
		a.failed++
		a.cleanUp()
	}()
	a.spin()
	return nil
}

func (a *attempts) byVariable() error {
	var err error
	a.begun++
	defer func(a *attempts) { a.count(&err) }(a)
	a.spin()
	return err
}

func (a *attempts) byFunction() (err error) {
	a.begun++
	defer a.count(&err)
	a.spin()
	return nil
}

func (a *attempts) count(err *error) {
	if *err == nil {
		a.done++
		return
	}
	a.failed++
	a.cleanUp()
}

// failing calls functions that clean up only if they return an error.
func failing() engine {
	var a attempts
	thrown, calling := 0, false
	return engine{
		"failures",
		func() error {
			for {
				calling = true
				a.byLiteral()
				a.byVariable()
				a.byFunction()
				calling = false
			}
		},
		func() error {
			if calling { // else the throw came between the calls
				thrown++
			}
			calling = false
			if a.failed != thrown || a.done+a.failed != a.begun || a.nested != nil {
				return fmt.Errorf("%d throws: %+v", thrown, a)
			}
			return nil
		},
	}
}

// acquiring takes places of a pool, and computes before it defers the release.
func acquiring() engine {
	p := &pool{}
	return engine{
		"acquisition",
		func() error {
			for {
				p.compute()
				p.acquireAndRelease()
			}
		},
		func() error { return equal(p.taken, p.back) },
	}
}

func (p *pool) acquireAndRelease() {
	place := p.place()
	p.compute()
	p.compute()
	defer place.giveBack()
}

func (p *pool) place() *pool {
	p.take()
	return p
}
