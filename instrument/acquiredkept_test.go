package instrument

import (
	"slices"
	"strings"
	"testing"
)

// resources are what the functions of keeping and handing acquire and release.
const resources = `
type conn struct{ next *conn }

func (*conn) Close() error { return nil }

func (*conn) Stop() {}

var (
	work   func()
	log    func(*server)
	dial   func() (*conn, error)
	open   func() (*conn, func(), error)
	pool   chan *conn
	free   map[int]*conn
	places chan struct{}
	put    func([]*conn)
)

type server struct {
	conn, idle *conn
	list       []*conn
	stats      *server
}

func (s *server) release() {
	s.conn.Close()
	s.giveBack()
}

func (s *server) giveBack() { put(s.list) }
`

// keeping has functions that release resources in many ways. Nothing is thrown on the lines marked
// K.
const keeping = `package p

import (
	"sync"
)

func sent() {
	c := <-pool
	work() // K
	defer func() { pool <- c }()
	work()
}

func sentTwo() error {
	x, err := dial()
	if err != nil {
		return err
	}
	y, err := dial() // K
	if err != nil {
		work()
		return err
	}
	work() // K
	defer func() { pool <- x; pool <- y }()
	work()
	return nil
}

func sentInCase() {
	c, _ := dial()
	work() // K
	defer func() {
		select {
		case pool <- c:
		default:
		}
	}()
	work()
}

func assigned() {
	c, _ := dial()
	work() // K
	defer func() { free[0] = c }()
	work()
}

func started() {
	c, _ := dial()
	work() // K
	defer func() { go c.Close() }()
	work()
}

func deferredTwice() {
	c, _ := dial()
	work() // K
	defer func() {
		defer c.Close()
	}()
	work()
}

func passedLiteral() {
	var once sync.Once
	c, _ := dial()
	work() // K
	defer once.Do(func() { c.Close() })
	work()
}

func appended() error {
	var cs []*conn
	for range 2 { // K
		c, err := dial() // K
		if err != nil {
			work()
			return err
		}
		work() // K
		cs = append(cs, c)
	}
	work() // K
	defer put(cs)
	work()
	return nil
}

func givenBack() error {
	var cs []*conn
	for range 2 { // K
		c, err := dial() // K
		if err != nil {
			work() // K
			put(cs) // K
			work()
			return err
		}
		cs = append(cs, c)
	}
	defer put(cs)
	work()
	return nil
}

func sentBack(n int) error {
	var cs []*conn
	for len(cs) < n { // K
		c, err := dial() // K
		if err != nil {
			for _, c := range cs { // K
				pool <- c
			}
			work()
			return err
		}
		cs = append(cs, c)
	}
	defer func() {
		for _, c := range cs {
			pool <- c
		}
	}()
	return nil
}

func appendedCalls(calls []func() *conn) {
	var cs []*conn
	for _, call := range calls { // K
		cs = append(cs, call()) // K
	}
	defer put(cs)
	work()
}

func elements() {
	cs := make([]*conn, 2)
	for i := range cs { // K
		c, _ := dial() // K
		work() // K
		cs[i] = c
	}
	defer put(cs)
	work()
}

func deferredFirst() {
	var cs []*conn
	defer func() {
		for _, c := range cs {
			pool <- c
		}
	}()
	for range 2 {
		c, _ := dial()
		work() // K
		cs = append(cs, c)
		work()
	}
	work()
}

func field() {
	var s server
	c, _ := dial()
	work() // K
	s.conn = c
	work() // K
	defer s.release()
	work()
}

func fieldBehind(s *server) {
	defer s.release()
	c, _ := dial()
	work() // K
	s.conn = c
	work()
}

func fieldOfCallee(s *server) {
	defer s.release()
	c, _ := dial()
	work() // K
	s.list = append(s.list, c)
	work()
}

func wrapped() {
	raw, _ := dial()
	work() // K
	c := &conn{raw}
	work() // K
	s := server{conn: c}
	work() // K
	defer s.release()
	work()
}

func partOfField() {
	var cs []*conn
	defer func() {
		for _, c := range cs {
			pool <- c
		}
	}()
	c, _ := dial()
	part := &conn{c.next}
	work()
	cs = append(cs, part)
	work()
}

func unreleasedField(s *server, other func() *server) {
	defer s.release()
	o := other()
	work()
	s.stats = o
	work()
}

func numbers(s *server, count func() int) {
	var all []int
	defer func() {
		for range all {
		}
	}()
	n := count()
	work()
	all = append(all, n)
	work()
}

func logged(of func() *server) {
	var s *server
	defer func() { log(s) }()
	o := of()
	work()
	s = o
	work()
}
`

// TestAcquiredKept checks that nothing is thrown between the acquisition of a resource and the
// statement from which on a deferred call releases it, in whatever way the call finds the resource.
func TestAcquiredKept(t *testing.T) { checkKept(t, keeping) }

// checkKept checks that nothing is thrown on the lines marked K, and only there.
func checkKept(t *testing.T, src string) {
	t.Helper()
	src += resources
	kept, _ := keptLines(t, src)
	for i, line := range strings.Split(src, "\n") {
		_, marks, _ := strings.Cut(line, " // ")
		if want := slices.Contains(strings.Fields(marks), "K"); kept[i+1] != want {
			t.Errorf("line %d: kept %v; want %v: %s", i+1, kept[i+1], want, line)
		}
	}
}
