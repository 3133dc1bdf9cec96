package instrument

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// acquiring marks each line with a poll by P, and each line on which nothing is thrown by K.
const acquiring = `package p

import (
	"context"
	"time"
)

type conn interface {
	Close(context.Context)
	Do(context.Context) error
	Get() conn
}

var open func(context.Context) (conn, error)

func acquire(ctx context.Context) conn {
	return dial(ctx) // P
}

var dial func(context.Context) conn

type pool struct {
	begin, end func(context.Context) error
	busy       bool
}

func argument(ctx context.Context) error {
	c := acquire(ctx)
	defer c.Close(context.WithoutCancel(ctx)) // K
	return c.Do(ctx) // P
}

func behindAnError(ctx context.Context) error {
	c, err := open(ctx) // P
	if err != nil {
		return dial(ctx).Do(ctx)
	}
	later := context.WithoutCancel(ctx) // K
	defer c.Close(later)
	return c.Do(ctx)
}

func receiver(ctx context.Context) error {
	c := acquire(ctx) // P
	defer c.Get().Close(ctx) // K
	return c.Do(ctx)
}

func another(ctx context.Context) error {
	c := acquire(ctx)
	ctx, cancel := context.WithTimeout(ctx, time.Second) // K
	defer cancel()
	defer c.Close(ctx)
	return c.Do(ctx) // P
}

func several(ctx context.Context) error {
	a := acquire(ctx)
	b := acquire(ctx) // K
	defer func() {
		b.Close(ctx)
		a.Close(ctx)
	}()
	return nil
}

func loop(ctx context.Context) error {
	c := acquire(ctx) // P
	for c.Do(ctx) != nil { // P K
		c.Get() // K
	}
	defer c.Close(ctx)
	for c.Do(ctx) != nil { // P
	}
	return nil
}

func retry(ctx context.Context) error {
	c, err := open(ctx) // P
	for err != nil { // P
		c, err = open(ctx)
	}
	defer c.Close(ctx)
	return nil
}

func retryByJump(ctx context.Context) error {
again: // P
	c, err := open(ctx)
	if err != nil {
		goto again // P
	}
	defer c.Close(ctx)
	return nil
}

func literal(ctx context.Context) (err error) {
	var c conn
	with(func() {
		c, err = open(ctx) // P
	})
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // K
	defer c.Close(ctx)
	return c.Do(ctx) // P
}

func with(f func()) { f() }

func given(ctx context.Context, c conn) error {
	after := context.WithoutCancel(ctx) // K
	defer c.Close(after)
	return c.Do(ctx) // P
}

func field(ctx context.Context, p *pool) error {
	context.WithoutCancel(ctx)
	p.begin(ctx) // P
	ctx = context.WithoutCancel(ctx) // K
	defer p.end(ctx)
	return p.begin(ctx)
}

func fields(ctx context.Context, p *pool) {
	acquire(ctx)
	p.busy = true
	acquire(ctx) // K
	defer func() { p.busy = false }()
	acquire(ctx)
}

func semaphore(ctx context.Context, places chan int) {
	places <- 1
	acquire(ctx) // K
	defer func() { <-places }()
	acquire(ctx)
}

func logged(ctx context.Context) {
	c := acquire(ctx)
	defer c.Close(ctx)
	acquire(ctx) // P
	defer func() { with(func() { println(c) }) }()
}

func unrelated(ctx context.Context) error {
	start := time.Now()
	acquire(ctx)
	c := acquire(ctx)
	defer c.Close(ctx)
	acquire(ctx) // P
	defer func() { println(start.String()) }()
	return nil
}

func byResult(ctx context.Context) {
	defer begin(ctx)()
	acquire(ctx) // P
}

func begin(ctx context.Context) func() { return func() { dial(ctx) } } // P
`

// TestAcquired checks that no poll between an acquisition and the defer statement that releases the
// resource throws, and that other polls do.
func TestAcquired(t *testing.T) {
	kept, text := keptLines(t, acquiring)
	for i, line := range strings.Split(acquiring, "\n") {
		_, marks, _ := strings.Cut(line, " // ")
		want := fmt.Sprint(slices.Contains(strings.Fields(marks), "P"), slices.Contains(strings.Fields(marks), "K"))
		if got := fmt.Sprint(strings.Contains(text[i], "cocoon_answer"), kept[i+1]); got != want {
			t.Errorf("line %d: poll, kept: %s; want %s: %s", i+1, got, want, text[i])
		}
	}
}

// keptLines returns the lines on which nothing is thrown because of an acquisition, and the
// rewritten lines.
func keptLines(t *testing.T, src string) (kept map[int]bool, text []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	polling := func(string) bool { return true }
	r, err := decided(Package{Path: "p", Files: []string{path}, Exports: exported(t)}, Options{Instrumented: polling})
	if err != nil || r.mistaken {
		t.Fatal(err, r.mistaken)
	}
	res := r.result()
	kept = map[int]bool{}
	for _, c := range r.codes {
		c.moved, r.ends = nil, map[place]bool{}
		r.keepLoose(c)
		for at := range r.ends {
			kept[at.line] = true
		}
	}
	return kept, strings.Split(string(res.Files[path]), "\n")
}

// TestKeepsOfAcquired checks the reason that cocoon gaps -keeps gives.
func TestKeepsOfAcquired(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.go")
	const src = `package p

var open, wait func() func()

func f() {
	c := open()
	wait()
	defer c()
	wait()
}
`
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := Keeps(Package{Path: "p", Files: []string{path}}, Options{})
	if err != nil || len(all) != 1 || all[0].Pos.Line != 7 || all[0].Why != "c may have to be released, and line 8 defers that" {
		t.Errorf("%v, %v", all, err)
	}
}
