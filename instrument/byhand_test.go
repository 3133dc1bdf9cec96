package instrument

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// releasingByHand marks each line on which a throw waits for the release by W, and each line with a
// poll on which it does not by P.
const releasingByHand = `package p

import (
	"context"
	"reflect"
	"sync"
	"time"
)

type conn interface {
	Close() error
	Do() error
}

var open func() (conn, error)

var work func()

func straight() error {
	c, err := open() // P
	if err != nil {
		work() // P
		return err
	}
	work() // W
	err = c.Do() // W
	c.Close() // W
	work() // P
	return err
}

func onAnError() (conn, error) {
	c, err := open() // P
	if err != nil {
		return nil, err
	}
	if err := c.Do(); err != nil { // W
		c.Close() // W
		return nil, err
	}
	work() // W
	return c, nil
}

func toItsCaller() (conn, error) {
	work() // P
	c, err := open() // P
	if err != nil {
		work() // P
		return nil, err
	}
	work() // W
	return c, c.Do() // W
}

func asANamedResult() (c conn, err error) {
	c, err = open() // P
	work() // W
	return
}

func inALiteral() func() {
	c, _ := open() // P
	work() // W
	return func() { c.Close() } // P
}

type session struct { conn conn; n int }

func inAField() *session {
	s := &session{n: 1}
	work() // P
	s.conn, _ = open() // P
	work() // W
	return s
}

type wide struct { conn, log conn; line int }

func inSeveralFields() (*wide, error) {
	w := &wide{}
	var err error
	if w.conn, err = open(); err != nil { // P
		return nil, err
	}
	w.log, err = open() // W
	w.line = size() // W
	return w, err
}

func inTheSameField() *wide {
	w := &wide{}
	w.conn, _ = open() // P
	for w.conn == nil { // P
		w.conn, _ = open()
		work() // W
	}
	return w
}

func newWide() *wide { work(); return nil } // P

func (*wide) Close() { work() }

func inAFieldOfAMadeValue() *wide {
	w := newWide() // P
	w.log, _ = open() // W
	return w
}

func inAValue() (*session, error) {
	c, err := open() // P
	if err != nil {
		return nil, err
	}
	s := session{conn: c}
	work() // W
	return &s, nil
}

func newConn(s *session) (conn, error) { work(); return s.conn, nil } // P

func throughACall() (conn, error) {
	c, _ := open() // P
	return newConn(&session{conn: c}) // W
}

func aNumber() (n int, s *session) {
	n = size() // P
	s = newSession() // P
	work() // P
	return n, s
}

func size() int { work(); return 1 } // P

func newSession() *session { work(); return nil } // P

func timers() *time.Timer {
	t := time.NewTimer(1)
	work() // P
	return t
}

func cleansUp() (c conn, err error) {
	c, err = open()
	if err != nil {
		return nil, err
	}
	defer func() { if err != nil { c.Close() } }()
	work() // P
	return c, nil
}

func inALoop() {
	for { // P
		c, _ := open()
		for range 10 { work() } // W
		c.Close() // W
	}
}

func inALoopOrNot() {
	for { // P
		c, err := open()
		if err != nil { continue }
		if work(); err == nil { // W
			c.Close() // W
		}
	}
}

func returned() error {
	c, err := open() // P
	if err != nil {
		return err
	}
	work() // W
	return c.Close() // W
}

func deferred() error {
	c, err := open()
	if err != nil {
		return err
	}
	defer c.Close()
	work() // P
	return c.Do() // P
}

func withFunction(acquire func() (conn, func())) {
	c, release := acquire() // P
	c.Do() // W
	release() // W
	work() // P
}

type pool struct{ free []*object }

func (p *pool) get() *object { work(); return p.free[0] }

func (p *pool) Put(o *object) { work() }

type object struct{ part thing }

type thing struct{ n int }

func (*thing) close() { work() }

func (p *pool) taken() *object {
	o := p.get() // P
	work() // W
	return o
}

func toAPool(p *pool) {
	o := p.get() // P
	work() // W
	p.Put(o) // W
}

func part(p *pool) {
	o := p.get() // P
	work() // P
	i := &o.part
	work() // W
	i.close() // W
	work() // P
}

var objects sync.Pool

func dispensableOnes(limit time.Duration) {
	o := objects.Get()
	t := time.NewTimer(limit)
	work() // P
	objects.Put(o)
	t.Stop()
}

func evaluated(x any) (v reflect.Value, err error) {
	v = reflect.ValueOf(x)
	if v, err = evaluated(v.Elem().Interface()); err != nil { // P
		return v, err
	}
	work() // P
	return v, nil
}

func getObject(size int) (any, func(), error) {
	if size == 0 {
		return nil, nil, nil
	}
	o := objects.Get()
	if o == nil {
		return new(object), func() {}, nil
	}
	return o, func() { objects.Put(o) }, nil
}

func dispensableFunction() {
	o, putBack, err := getObject(1)
	work() // P
	putBack()
	var c, putBackToo, no = getObject(1) // P
	work() // W
	putBackToo() // W
	_, _, _, _ = o, err, c, no
}

func getConn() (conn, func()) {
	c, err := open() // P
	if err != nil {
		return nil, func() { objects.Put(c) }
	}
	return c, func() { c.Close() } // P
}

func indispensableFunction() {
	_, closes := getConn() // P
	work() // W
	closes() // W
}

func getFinished() (_ conn, finish func()) {
	finish = func() { work() } // P
	return
}

func unknownFunction() {
	_, finish := getFinished()
	work() // W
	finish() // W
}

func use(c conn, f func() error) error { // defers the release
	defer c.Close()
	return f() // P
}

func passedOn() error {
	c, err := open() // P
	if err != nil {
		return err
	}
	work() // W
	return use(c, c.Do) // W
}

func passedOnTwice() error {
	c, _ := open() // P
	prepare(c) // W
	work() // W
	if err := use(c, nil); err != nil { // W
		work() // P
		return err
	}
	work() // P
	return nil
}

func prepare(c conn) { work() } // P

type response struct { body conn; status int }

var ask func() (*response, error)

func partPassedOn() error {
	r, err := ask() // P
	if err != nil {
		return err
	}
	work() // W
	return use(r.body, nil) // W
}

func started() {
	for { // P
		c, err := open()
		if err != nil {
			work()
			return
		}
		work() // W
		go use(c, nil)
	}
}

func sent(to chan<- conn) error {
	c, err := open() // P
	if err != nil {
		return err
	}
	work() // W
	to <- c
	work() // P
	return nil
}

func storedInMap(all map[string]conn) error {
	c, err := open() // P
	if err != nil {
		return err
	}
	work() // W
	all["x"] = c
	work() // P
	return nil
}

func captured() error {
	c, err := open() // P
	if err != nil {
		return err
	}
	work() // W
	go func() { use(c, nil) }()
	work() // P
	return nil
}

func passedInLiteral(run func(func())) {
	c, _ := open() // P
	work() // W
	run(func() { use(c, nil) }) // W
	work() // P
}

func sentPart(to chan<- int) {
	r, _ := ask() // P
	work() // P
	to <- r.status
}

func noResource() {
	r, _ := ask() // P
	work() // P
	count(r.status)
}

func count(n int) { work() } // P

func passedOnAndDeferred() {
	c, _ := open()
	defer c.Close()
	work() // P
	prepare(c) // P
}

func passedOnAndReleased() {
	c, _ := open() // P
	prepare(c) // W
	c.Close() // W
	work() // P
}

type tx struct{ id *int }

func (tx) Do() error { work(); return nil }

type store interface {
	Begin() (tx, error)
	Commit(tx) error
	Abort(tx)
}

func transaction(s store) error {
	t, err := s.Begin() // P
	if err != nil {
		return err
	}
	if err := t.Do(); err != nil { // W
		s.Abort(t) // W
		return err
	}
	work() // W
	return s.Commit(t) // W
}

type closer func(context.Context, error) error

func withCloser(s store) (tx, closer, error) {
	t, err := s.Begin() // P
	if err != nil {
		return tx{}, nil, err
	}
	finish := func(_ context.Context, err error) error { s.Abort(t); return err } // P
	work() // W
	return t, finish, nil
}

func useCloser(ctx context.Context, s store) error {
	_, finish, err := withCloser(s)
	if err != nil {
		return err
	}
	work() // W
	return finish(ctx, err) // W
}

type state struct{ t tx; n int }

func inAFieldOfALiteral(s store) (*state, func()) {
	x := &state{}
	work() // P
	finish := func() {}
	if x.n == 0 {
		x.t, _ = s.Begin() // P
		finish = func() { s.Abort(x.t) } // P
	}
	work() // W
	return x, finish
}

func chained(wrap func(func(context.Context) error) func(context.Context) error) error {
	f := wrap(nil) // P
	work() // P
	return f(context.Background()) // P
}

func canceled(ctx context.Context, derive func() (*state, context.CancelCauseFunc)) {
	_, cancel := derive() // P
	work() // P
	cancel(nil) // P
}

type call[K any] struct{ key K; done chan struct{} }

func (c *call[K]) finish() { close(c.done) }

func register[K any](key K) (*call[K], bool) { work(); return nil, true } // P

func load[K any](c *call[K]) {
	defer c.finish()
	work() // P
}

func promised[K any](key K) {
	c, mine := register(key) // P
	if mine {
		work() // W
		load(c) // W
		return
	}
	<-c.done
	work() // P
}

func promisedInLiteral(measured func(func() error) error) {
	c, _ := register(7) // P
	work() // W
	measured(func() error { load(c); return nil }) // W
}

func parameter(c conn) {
	work() // P
	c.Close() // P
}
`

// TestReleasedByHand checks on which lines a throw waits for a release.
func TestReleasedByHand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(path, []byte(releasingByHand), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := decided(Package{Path: "p", Files: []string{path}, Exports: exported(t)}, Options{})
	if err != nil || r.mistaken {
		t.Fatal(err, r.mistaken)
	}
	for i, line := range strings.Split(releasingByHand, "\n") {
		_, mark, _ := strings.Cut(line, "// ")
		waits := r.byHand[place{"a.go", i + 1}]
		if waits != (mark == "W") {
			t.Errorf("a throw waits for a release: %v in line %d: %s", waits, i+1, line)
		}
		if at := (place{"a.go", i + 1}); (mark == "W" || mark == "P") && (!r.busy[at] || r.ends[at]) {
			t.Errorf("nothing may be thrown anyway in line %d: %s", i+1, line)
		}
	}
	if link := string(r.result().Files[filepath.Join(filepath.Dir(path), "zz_cocoon.go")]); !strings.Contains(link, `cocoon_byHand("p", "a.go", []int{25, 27, `) {
		t.Errorf("the lines are not registered:\n%s", link)
	}
}
