package isolate

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

func TestNewStoreKnowsItsEngine(t *testing.T) {
	stores := engines(t)
	if stores[1].Compiled() {
		t.Error("the interpreter says that it compiles")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewStore(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestCompileRefuses(t *testing.T) {
	s := engines(t)[0]
	if _, err := s.Compile(analyzer.Verified{}); err == nil || !strings.Contains(err.Error(), "nothing verified") {
		t.Errorf("the zero Verified: %v", err)
	}
	ok := verdict(stubs.Continue, 0)
	for _, c := range []struct {
		name    string
		program ir.Program
		want    string
	}{
		{"an unknown operation", ir.Program{Root: operation(200, stubs.Verdict)}, "offset 7: operation 200"},
		{"an order of bools", ir.Program{Root: choose(compare(ir.OpLt, word(stubs.Bool, 0), word(stubs.Bool, 0)), ok, ok)}, "operation 15 on bool"},
		{"a remainder of floats", ir.Program{Root: then(effect(0, operation(ir.OpMod, stubs.Float, float(1), float(1))), ok), Sites: make([]ir.Site, 1)}, "operation 12 on float"},
		{"a list as a local", ir.Program{Root: ok, Locals: []stubs.Type{stubs.NameList}}, "list of names"},
		{"a wrong type", ir.Program{Root: choose(integer(1), ok, ok)}, "type mismatch"},
		{"a local that is not there", ir.Program{Root: choose(local(stubs.Bool, 9), ok, ok)}, "local"},
		{"no value", ir.Program{Root: effect(0, nil), Sites: make([]ir.Site, 1)}, "not enough results"},
		{"a huge snapshot", ir.Program{Root: ok, Words: 1 << 20}, "read fewer stubs"},
		{"too many effects", ir.Program{Root: ok, Sites: make([]ir.Site, 65)}, "at most 64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := s.compile(&c.program); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
		})
	}
}

func TestCompileLong(t *testing.T) {
	deep := verdict(stubs.Switch, 0)
	sum := integer(0)
	for range 600 {
		deep = choose(compare(ir.OpGt, read(stubs.Int, 0), integer(1)), deep, verdict(stubs.Continue, 0))
		sum = operation(ir.OpAdd, stubs.Int, integer(1), sum)
	}
	wide := then(effect(0, sum), verdict(stubs.Switch, 0))
	stores := engines(t)
	if got := agree(t, stores, &ir.Program{Root: deep, Words: 1}, []uint64{2})[0]; got != "switch 0 0" {
		t.Error(got)
	}
	if got := agree(t, stores, &ir.Program{Root: wide, Sites: make([]ir.Site, 1)}, nil)[0]; got != "switch 0 1 0:0x258" {
		t.Error(got)
	}
}

// TestSnapshotOfManyPages puts the outcome after a snapshot larger than a page, up to the maximum
// size.
func TestSnapshotOfManyPages(t *testing.T) {
	words := maxPages*pageBytes/wordBytes - 2 - stubs.MaxSites
	p := &ir.Program{
		Words: words, Sites: make([]ir.Site, stubs.MaxSites),
		Root: then(effect(63, read(stubs.Int, words-1)), verdict(stubs.Throw, 0)),
	}
	p.Root.B.A = read(stubs.Duration, words-2)
	snapshot := make([]uint64, words)
	snapshot[words-2], snapshot[words-1] = 8, 9
	if got := agree(t, engines(t), p, snapshot)[0]; !strings.HasSuffix(got, " retry:8 63:0x9") {
		t.Error(got)
	}
}

func TestClose(t *testing.T) {
	s, err := NewStore(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	m, _ := s.compile(headOfLine)
	twin, _ := s.compile(headOfLine) // shares the machine code
	var all [4]*Evaluator
	for i, from := range []*Module{m, m, twin, twin} {
		if all[i], err = from.NewEvaluator(); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, want ...error) {
		t.Helper()
		for i, e := range all {
			if _, err := e.Eval(); !errors.Is(err, want[i]) {
				t.Errorf("%s, evaluator %d: got %v, want %v", when, i, err, want[i])
			}
		}
	}
	twice := func(closers ...func() error) {
		t.Helper()
		for _, c := range append(closers, closers...) {
			if err := c(); err != nil {
				t.Error(err)
			}
		}
	}
	twice(all[0].Close)
	check("after the evaluator's close", ErrClosed, nil, nil, nil)
	all[0].Snapshot()[0] = 1 // the memory of a closed evaluator remains
	twice(m.Close)
	check("after the module's close", ErrClosed, nil, nil, nil)
	if _, err := m.NewEvaluator(); err != ErrClosed {
		t.Errorf("got %v, want %v", err, ErrClosed)
	}
	if e, err := twin.NewEvaluator(); err != nil {
		t.Error(err)
	} else {
		twice(e.Close)
	}
	twice(s.Close)
	check("after the store's close", ErrClosed, ErrClosed, ErrClosed, ErrClosed)
	if _, err := twin.NewEvaluator(); err != ErrClosed {
		t.Errorf("got %v, want %v", err, ErrClosed)
	}
	if _, err := s.compile(headOfLine); err != ErrClosed {
		t.Errorf("got %v, want %v", err, ErrClosed)
	}
	twice(twin.Close, all[1].Close, all[2].Close)
}

// TestHammer evaluates in many goroutines and checks each result, while other goroutines compile,
// make and close, and at the end closes the store during their work.
func TestHammer(t *testing.T) {
	s, err := NewStore(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.compile(headOfLine)
	if err != nil {
		t.Fatal(err)
	}
	var users, churn sync.WaitGroup
	var enough sync.WaitGroup // every user has evaluated many times
	done := make(chan struct{})
	for u := range 8 {
		enough.Add(1)
		users.Go(func() { hammer(t, m, u, enough.Done) })
	}
	for range 2 {
		churn.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					churnOnce(t, s)
				}
			}
		})
	}
	enough.Wait()
	close(done)
	churn.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	users.Wait()
}

// hammer evaluates until the store is closed; every evaluation has one right result.
func hammer(t *testing.T, m *Module, user int, often func()) {
	e, err := m.NewEvaluator()
	if err != nil {
		t.Error(err)
		often()
		return
	}
	for i := 0; ; i++ {
		if i == 2000 {
			often()
		}
		running := uint64(i+user) % 3 * 1_000_000
		copy(e.Snapshot(), []uint64{1, uint64(stubs.Kinds[1]), running})
		out, err := e.Eval()
		if errors.Is(err, ErrClosed) && i > 2000 {
			return
		}
		want := stubs.Continue
		if running > 1_000_000 {
			want = stubs.Switch
		}
		if err != nil || out.Decision != want {
			t.Errorf("user %d, evaluation %d: got %v, %v, want %v", user, i, out, err, want)
			if i < 2000 {
				often()
			}
			return
		}
	}
}

// churnOnce compiles a policy that the users have, and a different one, evaluates each once, and
// closes them.
func churnOnce(t *testing.T, s *Store) {
	for _, p := range []*ir.Program{headOfLine, {Root: verdict(stubs.Switch, 0)}} {
		m, err := s.compile(p)
		if err != nil {
			t.Error(err)
			return
		}
		e, err := m.NewEvaluator()
		if err != nil {
			t.Error(err)
			return
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if _, err := e.Eval(); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
