package isolate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// TestEvalLeavesNothing evaluates alternately with effects, with an error, and without either.
func TestEvalLeavesNothing(t *testing.T) {
	divide := operation(ir.OpDiv, stubs.Int, integer(10), read(stubs.Int, 0))
	p := &ir.Program{
		Words: 1, Sites: make([]ir.Site, 2),
		Root: choose(compare(ir.OpLt, read(stubs.Int, 0), integer(0)), verdict(stubs.Continue, 0),
			then(effect(0, divide), then(effect(1, nil), verdict(stubs.Throw, 0)))),
	}
	e := evaluator(t, p)
	for _, c := range []struct {
		word uint64
		want string
	}{
		{5, "throw 0 11 0:0x2 1:0x0"},
		{1 << 63, "continue 0 0"},
		{0, failedWith(ir.ErrDivideByZero)},
		{1 << 63, "continue 0 0"},
		{0, failedWith(ir.ErrDivideByZero)},
		{10, "throw 0 11 0:0x1 1:0x0"},
	} {
		e.Snapshot()[0] = c.word
		if got := result(e.Eval()); got != c.want {
			t.Errorf("%d: got %s, want %s", c.word, got, c.want)
		}
	}
}

// TestEvalAfterTrap checks that if a program trapped, which no program does, the error would be
// distinct and the evaluator usable.
func TestEvalAfterTrap(t *testing.T) {
	const unreachable = 0
	g := &generator{}
	g.i32(0)
	g.memory(opI64Load, 0)
	g.op(opI64Eqz, opIf, typeI64)
	g.i64(uint64(stubs.Switch))
	g.op(opElse, unreachable, opEnd)
	code := module(1, nil, g.code, 0, nil)
	for _, s := range engines(t) {
		instance, err := s.runtime.InstantiateWithConfig(context.Background(), code, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			t.Fatal(err)
		}
		e := newEvaluator(&ir.Program{Words: 1}, pool{}, instance)
		for i := range 100 {
			e.Snapshot()[0] = uint64(i % 2)
			out, err := e.Eval()
			if i%2 == 0 && (err != nil || out.Decision != stubs.Switch) {
				t.Fatalf("evaluation %d: got %v, %v, want switch", i, out, err)
			}
			if i%2 == 1 && (err == nil || errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), "unreachable")) {
				t.Fatalf("evaluation %d: got %v, want a trap", i, err)
			}
		}
	}
}

func TestEvalDoesNotAllocate(t *testing.T) {
	e := evaluator(t, regexLimit)
	s, err := NewStore(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !s.Compiled() {
		t.Skip("wazero's interpreter allocates")
	}
	allocations := testing.AllocsPerRun(1000, func() {
		e.Snapshot()[0]++
		if _, err := e.Eval(); err != nil {
			t.Fatal(err)
		}
	})
	if allocations != 0 {
		t.Errorf("got %v allocations an evaluation, want 0", allocations)
	}
}

func TestSnapshotIsTheMemory(t *testing.T) {
	e := evaluator(t, headOfLine)
	s := e.Snapshot()
	if len(s) != 3 || cap(s) != 3 {
		t.Fatalf("got %d words, room for %d; want 3", len(s), cap(s))
	}
	copy(s, []uint64{1, uint64(stubs.Kinds[1]), 5e6})
	for range 2 {
		if out, err := e.Eval(); err != nil || out.Decision != stubs.Switch || out.Values != nil {
			t.Errorf("got %v, %v, want switch", out, err)
		}
	}
}
