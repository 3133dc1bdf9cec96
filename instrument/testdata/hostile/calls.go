package main

import (
	"errors"
	"fmt"
	"sort"
	"sync"
)

type shape interface{ area(depth int) int }

type base struct{ shape }

type square struct{ side int }

func (s square) area(depth int) int {
	if depth == 0 {
		return s.side
	}
	return base{s}.area(depth-1) + 1
}

type derived struct {
	*base
	sync.Mutex
}

func embedded() any {
	d := derived{base: &base{square{3}}}
	d.Lock()
	defer d.Unlock()
	area := d.area
	return d.area(100) + area(3) + shape.area(d, 2)
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func even(n int) bool { return n == 0 || odd(n-1) }
func odd(n int) bool  { return n != 0 && even(n-1) }

type node struct{ left, right *node }

func (n *node) depth() int {
	switch {
	case n == nil:
		return 0
	case n.left == nil:
		return n.right.depth() + 1
	default:
		if l, r := n.left.depth(), n.right.depth(); l > r {
			return l + 1
		} else if r > 5 {
			return r + 1
		} else {
			return n.right.depth() + 1
		}
	}
}

func jumpy(n int) int {
	if n%2 == 0 {
		goto half
	}
	return jumpy(n-1) + 1
half:
	if n == 0 {
		return 0
	}
	return jumpy(n/2) + 1
}

func recursion() any {
	var visit func(n int) int
	visit = func(n int) int {
		if n == 0 {
			return 0
		}
		return visit(n-1) + 1
	}
	tree := &node{}
	for range 10 {
		tree = &node{tree, &node{}}
	}
	return fmt.Sprint(fib(15), even(1001), visit(1000), tree.depth(), jumpy(1000))
}

type guarded struct {
	mu sync.RWMutex
	n  map[int]int
}

func (g *guarded) all() (sum int) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, v := range g.n {
		sum += v
	}
	return sum
}

func (g *guarded) add(n int) {
	for i := 0; i < n; i++ {
		g.mu.Lock()
		if i == 7 {
			g.mu.Unlock()
			continue
		}
		g.n[i] = i
		g.mu.Unlock()
	}
}

func locks() any {
	g := guarded{n: map[int]int{}}
	g.add(3000)
	var once sync.Once
	once.Do(func() { g.add(10) })
	return g.all()
}

func twice() (n int, _ error) { return 2, errors.New("twice") }

func unnamed(n int) (int, error) {
	if n, err := twice(); err != nil && n == 2 {
		return n, err
	}
	return n, nil
}

func onlyError() error { return errors.New("only") }

type byLast []string

func (b byLast) Len() int           { return len(b) }
func (b byLast) Less(i, j int) bool { return b[i][len(b[i])-1] < b[j][len(b[j])-1] }
func (b byLast) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

func methods() any {
	words := byLast{"abc", "cba", "bab"}
	sort.Sort(words)
	n, err := unnamed(1)
	defer func() {
		for recover() != nil {
			panic("never")
		}
	}()
	return fmt.Sprint(words, n, err, onlyError())
}
