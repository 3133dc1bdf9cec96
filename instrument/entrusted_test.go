package instrument

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// entrusting marks each line on which no throw happens, for any length of time, by K, each line on
// which a throw waits for a while by W, and each line with a poll on which it does not by P.
const entrusting = `package p

import (
	"context"
	"sync"
)

type tx struct{ id *int }

type store interface {
	Begin() (tx, error)
	Abort(context.Context, tx)
	give(tx)
}

type query struct {
	store   store
	tx      tx
	input   any
	options map[string]string
}

var work func() error

func convert() (any, error) { return nil, work() } // P

// like OPA's newEvalContext
func newQuery(s store) (*query, func(context.Context), error) {
	q := &query{store: s}
	var err error
	if q.input, err = convert(); err != nil { // P
		work() // P
	}
	finish := func(context.Context) {}
	if q.options == nil {
		q.tx, err = s.Begin() // P
		if err != nil {
			return nil, finish, err
		}
		finish = func(ctx context.Context) {
			s.Abort(ctx, q.tx) // P
		}
	}
	if q.input == nil {
		q.input, err = convert() // K
		for range 100000 { work() } // K
		if err != nil {
			return nil, finish, err
		}
	}
	work() // K
	return q, finish, nil
}

func evaluate(ctx context.Context, s store) error {
	_, finish, err := newQuery(s) // P
	if err != nil {
		return err
	}
	defer finish(ctx)
	_, err = convert() // P
	return err
}

// its closer has no name that releases
func taken(s store) (tx, func()) {
	t, _ := s.Begin() // P
	work() // K
	return t, func() { s.give(t) } // P
}

func handedOn(s store) (tx, func()) {
	t, finish := taken(s) // P
	work() // K
	return t, finish
}

func handedOnAtOnce(s store) (t tx, finish func()) {
	work() // P
	return handedOn(s) // P
}

func usesHandedOn(s store) {
	_, finish := handedOnAtOnce(s) // P
	defer func() { finish() }()
	work() // P
}

type conn interface { Close() }

var dial func() conn

func method() (finish func(), c conn) {
	c = dial() // P
	work() // K
	finish = c.Close
	return
}

func usesMethod() {
	finish, c := method() // P
	defer finish()
	work() // P
	_ = c
}

func calledByHand(s store) (tx, func()) {
	t, _ := s.Begin() // P
	work() // W
	return t, func() { s.Abort(nil, t) } // P
}

func callsByHand(s store) {
	t, finish := calledByHand(s) // P
	work() // W
	finish() // W
	_ = t
}

func collected(n int) (all []conn, finish func()) {
	finish = func() { for _, c := range all { c.Close() } } // P
	for range n { // K
		c := dial() // K
		work() // K
		all = append(all, c)
		work() // K
	}
	work() // K
	return all, finish
}

func usesCollected() {
	_, finish := collected(3) // P
	defer finish()
	work() // P
}

func elements() (m map[string]conn, finish func()) {
	work() // P
	m = map[string]conn{}
	work() // P
	m["a"] = dial() // P
	work() // K
	m["b"] = dial() // K
	work() // K
	return m, func() { for _, c := range m { c.Close() } } // P
}

func usesElements() {
	_, finish := elements() // P
	defer finish()
	work() // P
}

func finishers() (all []func()) {
	for range 3 { // K
		c := dial() // K
		work() // K
		all = append(all, func() { c.Close() }) // P
		work() // K
	}
	return all
}

func usesFinishers() {
	all := finishers() // P
	defer func() { for _, finish := range all { finish() } }()
	work() // P
}

func swapped() (func(), func()) {
	a := dial() // P
	work() // K
	b := dial() // K
	a, b = b, a
	work() // K
	return a.Close, b.Close
}

func usesSwapped() {
	a, b := swapped() // P
	defer a()
	defer b()
	work() // P
}

type places struct {
	all  chan int
	name string
	take func()
}

func (p *places) give() { work() } // P

func (p *places) enter() func() {
	work() // P
	p.take() // P
	work() // K
	return p.give
}

func place(p *places, n int) (finish func()) {
	work() // P
	p.all <- n
	work() // K
	return func() { <-p.all }
}

func named(p *places) func() {
	println(p.name)
	work() // P
	c := dial() // P
	return func() { c.Close() } // P
}

func usesPlaces(p *places) {
	defer p.enter()() // K
	finish := place(p, 1) // P
	defer finish()
	work() // P
}

func usesNamed(p *places) {
	finish := named(p) // P
	defer finish()
	work() // P
}

var secured func(conn) conn

func wrapped() (conn, func()) {
	c := dial() // P
	c = secured(c) // K
	work() // K
	return c, func() { c.Close() } // P
}

func usesWrapped() {
	_, finish := wrapped() // P
	defer finish()
	work() // P
}

func replaced() (conn, func()) {
	c := dial() // P
	c.Close() // K
	work() // P
	c = dial() // P
	work() // K
	return c, func() { c.Close() } // P
}

func usesReplaced() {
	_, finish := replaced() // P
	defer finish()
	work() // P
}

var objects sync.Pool

func fromPool() (any, func()) {
	o := objects.Get()
	work() // P
	return o, func() { objects.Put(o) }
}

func usesPool() {
	_, put := fromPool() // P
	work() // K
	defer put()
	work() // P
}

func canceled(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	work() // P
	return ctx, cancel
}

func usesCanceled(ctx context.Context) {
	_, cancel := canceled(ctx) // P
	defer cancel()
	work() // P
}
`

// TestEntrusted checks that nothing is thrown between an acquisition and the return of the function
// that releases the resource, if a caller defers this function.
func TestEntrusted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(path, []byte(entrusting), 0o600); err != nil {
		t.Fatal(err)
	}
	p := Package{Path: "p", Files: []string{path}, Exports: exported(t)}
	r, err := decided(p, Options{})
	if err != nil || r.mistaken {
		t.Fatal(err, r.mistaken)
	}
	for i, line := range strings.Split(entrusting, "\n") {
		_, mark, _ := strings.Cut(line, " // ")
		got, at := "", place{"a.go", i + 1}
		switch {
		case !r.busy[at]:
		case r.ends[at]:
			got = "K"
		case r.byHand[at]:
			got = "W"
		default:
			got = "P"
		}
		if got != cmp.Or(mark, got) || len(mark) == 0 && (got == "K" || got == "W") {
			t.Errorf("%q in line %d: %s", got, i+1, line)
		}
	}
	all, err := Keeps(p, Options{})
	const why = "q.tx may have to be released, and line 52 returns it to a caller that defers that"
	if err != nil || !slices.ContainsFunc(all, func(k Kept) bool { return k.Func == "newQuery" && k.Pos.Line == 37 && k.Why == why }) {
		t.Errorf("%v, %v", all, err)
	}
}
