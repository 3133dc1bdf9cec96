package isolate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/longtest"
)

// engines are stores over both of wazero's engines: the compiler, where supported, and its
// fallback.
func engines(t testing.TB) []*Store {
	var stores []*Store
	for _, config := range []wazero.RuntimeConfig{wazero.NewRuntimeConfig(), wazero.NewRuntimeConfigInterpreter()} {
		s, err := newStore(context.Background(), config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		stores = append(stores, s)
	}
	return stores
}

// result is an evaluation in comparable form: only the values of the sites that fired, and the text
// of the error.
func result(out ir.Outcome, err error) string {
	if err != nil {
		var at *ir.EvalError
		if !errors.As(err, &at) {
			return "unexpected: " + err.Error()
		}
		return err.Error() + fmt.Sprint(out)
	}
	s := fmt.Sprintf("%v %d %b", out.Decision, out.Reason, out.Fired)
	if out.Retry != 0 {
		s += fmt.Sprintf(" retry:%d", out.Retry)
	}
	for i, v := range out.Values {
		if out.Fired>>i&1 != 0 {
			s += fmt.Sprintf(" %d:%#x", i, v)
		}
	}
	return s
}

// agree evaluates the program over the snapshots with every evaluator. It fails if the results
// differ, or if the interpreter exceeds the bound. It returns the interpreter's results.
func agree(t testing.TB, stores []*Store, p *ir.Program, snapshots ...[]uint64) []string {
	t.Helper()
	want := make([]string, len(snapshots))
	bound := ir.Bound(p.Root)
	for i, snapshot := range snapshots {
		out, steps, err := ir.Interpret(p, snapshot)
		if want[i] = result(out, err); steps > bound {
			t.Errorf("%d steps exceed the bound of %d", steps, bound)
		}
	}
	for _, s := range stores {
		m, err := s.compile(p)
		if err != nil {
			t.Fatal(err)
		}
		e, err := m.NewEvaluator()
		if err != nil {
			t.Fatal(err)
		}
		for i, snapshot := range snapshots {
			copy(e.Snapshot(), snapshot)
			if got := result(e.Eval()); got != want[i] {
				t.Errorf("snapshot %#x (compiled: %v):\n got %s\nwant %s", snapshot, s.Compiled(), got, want[i])
			}
		}
		if err := errors.Join(e.Close(), m.Close()); err != nil {
			t.Error(err)
		}
	}
	return want
}

func agreeOnRandom(t testing.TB, stores []*Store, data []byte) []string {
	c := &choices{data}
	p := randomProgram(c)
	if ir.Bound(p.Root) > 1e6 {
		return nil
	}
	return agree(t, stores, p, c.snapshot(), c.snapshot(), c.snapshot())
}

// TestAgreeRandom runs random programs. It counts results, so that a generator of trivial programs
// cannot pass.
func TestAgreeRandom(t *testing.T) {
	stores := engines(t)
	random := rand.New(rand.NewPCG(1, 2))
	kinds := map[string]int{}
	for i := range longtest.Count(400, 150) {
		data := make([]byte, 100+random.IntN(1500))
		for j := range data {
			data[j] = byte(random.Uint32())
		}
		for _, r := range agreeOnRandom(t, stores, data) {
			kinds[kind(r)]++
		}
		if t.Failed() {
			t.Fatalf("program %d", i)
		}
	}
	t.Log(kinds)
	for _, k := range []string{"continue", "throw", "switch", "fired", "integer overflow", "division by zero", "number out of the range of integers", "not a number of tokens"} {
		if kinds[k] == 0 {
			t.Errorf("no result of kind %q in %v", k, kinds)
		}
	}
}

// kind classifies a result.
func kind(r string) string {
	for _, k := range []string{"integer overflow", "division by zero", "number out of the range of integers", "not a number of tokens"} {
		if strings.Contains(r, k) {
			return k
		}
	}
	if decision, rest, _ := strings.Cut(r, " "); strings.HasSuffix(rest, " 0") {
		return decision
	}
	return "fired"
}

// FuzzAgree runs the programs and snapshots that the bytes choose. Run it with
// -fuzzminimizetime=10x: the fuzzer takes longer to minimise long inputs than to find them.
func FuzzAgree(f *testing.F) {
	stores := engines(f)
	f.Add([]byte{})
	f.Add([]byte{1, 4, 3, 3, 2, 5, 0, 0, 0, 1, 1, 0, 0, 2})
	f.Fuzz(func(t *testing.T, data []byte) { agreeOnRandom(t, stores, data) })
}
