package main

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/cocoon"
)

// pool has places that are given back by deferred calls, which take longer than all else.
type pool struct {
	taken, back, n int
	last           func()
}

func (p *pool) take() { p.taken++ }

func (p *pool) giveBack() {
	p.compute()
	p.compute()
	p.back++
}

func (p *pool) compute() error {
	for i := 0; i < 20000; i++ {
		p.n = p.n*31 + i
	}
	return nil
}

// ways are functions that take a place. Each returns in another way.
func (p *pool) ways() map[string]func() {
	return map[string]func(){
		"end": func() {
			p.take()
			defer p.giveBack()
		},
		"return":         func() { _ = p.returns() },
		"return a call":  func() { _ = p.returnsCall() },
		"one line":       func() { p.oneLine() },
		"named result":   func() { _ = p.namedResult() },
		"result on heap": func() { _ = p.resultOnHeap() },
		"type parameter": func() { giveBack(p) },
		"literal": func() {
			func() {
				p.take()
				defer p.giveBack()
			}()
		},
		"literal with a call behind it": func() {
			func() func() {
				p.take()
				defer p.giveBack()
				return func() {}
			}()()
		},
		"deferred variable": func() {
			p.take()
			giveBack := p.giveBack
			defer giveBack()
		},
		"deferred literal": func() {
			p.take()
			defer func() { p.giveBack() }()
		},
		"in a loop": func() {
			for range 3 {
				p.take()
				defer p.giveBack()
			}
		},
		"out of an iterator's loop": func() { p.outOfLoop() },
		"SafePoint": func() {
			p.take()
			defer func() {
				for range 100 {
					cocoon.SafePoint(context.Background())
					_ = p.compute()
				}
				p.back++
			}()
		},
		"iterator": func() {
			for range p.elements() {
				break
			}
		},
	}
}

func (p *pool) returns() error {
	p.take()
	defer p.giveBack()
	if p.n != 0 {
		return nil
	}
	return fmt.Errorf("%d", p.n)
}

func (p *pool) returnsCall() error {
	p.take()
	defer p.giveBack()
	return p.compute()
}

func (p *pool) oneLine() { p.take(); defer p.giveBack(); _ = p.compute() }

// Its result is on the heap, and so the compiler does not open-code the deferred call.
func (p *pool) resultOnHeap() (err error) {
	p.take()
	defer p.giveBack()
	fail := func() { err = p.compute() }
	p.last = fail
	return nil
}

func (p *pool) namedResult() (err error) {
	p.take()
	defer func() { p.giveBack(); err = nil }()
	return p.compute()
}

func giveBack[T interface {
	take()
	giveBack()
}](p T) {
	p.take()
	defer p.giveBack()
}

func (p *pool) outOfLoop() error {
	p.take()
	defer p.giveBack()
	for range p.naturals() {
		return p.compute()
	}
	return nil
}

func (p *pool) naturals() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	}
}

func (p *pool) elements() iter.Seq[int] {
	return func(yield func(int) bool) {
		p.take()
		if !yield(1) {
			p.giveBack()
			return
		}
	}
}

// spinOnOneLine is thrown out of: it does not return yet.
func (p *pool) spinOnOneLine() { p.take(); defer p.giveBack(); spin() }

// deferring are engines that give back what they take, however they return.
func deferring() (all []engine) {
	p := &pool{}
	intact := func() error { return equal(p.back, p.taken) }
	ways := p.ways()
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		all = append(all, engine{name, func() error {
			for {
				ways[name]()
			}
		}, intact})
	}
	return append(all, engine{"one line that does not return", func() error { p.spinOnOneLine(); return nil }, intact})
}
