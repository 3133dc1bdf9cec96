// Package isolate runs verified policies as WebAssembly, compiled to machine code. A policy reads
// the snapshot in its own memory, returns its verdict and can access nothing else. A module has no
// imports, one memory of fixed size and one function without parameters.
//
// # Use
//
// A [Store] compiles what package analyzer has verified, and a [Module] makes an [Evaluator] for
// each goroutine that evaluates. Programs that use package cocoon do not need this package.
package isolate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// ErrClosed is the error of every call on a store, module or evaluator that has been closed.
var ErrClosed = errors.New("isolate: closed")

// Store holds compiled policies. It is safe for concurrent use, including Close.
type Store struct {
	runtime  wazero.Runtime
	compiled bool

	mu     sync.RWMutex // held for reading during creation, for writing during closing
	closed bool
}

// NewStore makes an empty store. It uses wazero's compiler; if that does not support the processor,
// or the operating system forbids executable memory, it uses wazero's interpreter. Compiled reports
// which. NewStore refuses big-endian processors, because snapshots are written directly to
// WebAssembly's memory. It tests the store by running a policy, which takes about a millisecond;
// ctx can prevent that, and is not kept.
func NewStore(ctx context.Context) (*Store, error) {
	return newStore(ctx, wazero.NewRuntimeConfig())
}

func newStore(ctx context.Context, config wazero.RuntimeConfig) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("isolate: %w", err)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errors.New("isolate: big-endian processors are not supported; use a little-endian one, such as amd64 or arm64")
	}
	// No termination checks (WithCloseOnContextDone): all compiled code has a verified bound, and
	// the checks make it 8-45 times slower.
	config = config.WithCoreFeatures(api.CoreFeaturesV1).WithMemoryLimitPages(maxPages).WithDebugInfoEnabled(false)
	s := &Store{runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	if err := s.probe(); err != nil {
		return nil, errors.Join(fmt.Errorf("isolate: a new store cannot evaluate a policy: %w", err), s.Close())
	}
	return s, nil
}

// probe runs the policy "continue()" and determines which engine runs it.
func (s *Store) probe() error {
	m, err := s.compile(&ir.Program{Root: &ir.Node{Op: ir.OpVerdict, Type: stubs.Verdict}})
	if err != nil {
		return err
	}
	e, err := m.NewEvaluator()
	if err != nil {
		return err
	}
	if _, err := e.Eval(); err != nil {
		return err
	}
	// wazero does not report its choice of engine, but the package of the function reveals it.
	s.compiled = strings.HasSuffix(reflect.TypeOf(e.function).Elem().PkgPath(), "/wazevo")
	return errors.Join(e.Close(), m.Close())
}

// Compiled reports whether policies run as machine code. If not, an evaluation takes about a
// microsecond more.
func (s *Store) Compiled() bool { return s.compiled }

// Compile translates a verified policy. It takes half a millisecond for a line of text
// (BenchmarkCompile), and about ten for the longest policy within the default limits. It refuses
// the zero Verified, which proves nothing.
func (s *Store) Compile(v analyzer.Verified) (*Module, error) {
	p := v.Program()
	if p == nil {
		return nil, errors.New("isolate: nothing verified to compile; take what analyzer.Verify returns")
	}
	return s.compile(p)
}

func (s *Store) compile(p *ir.Program) (*Module, error) {
	code, constants, err := generate(p)
	if err != nil {
		return nil, fmt.Errorf("isolate: %w", err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, ErrClosed
	}
	compiled, err := s.runtime.CompileModule(context.Background(), code)
	if err != nil {
		return nil, fmt.Errorf("isolate: %w", err)
	}
	return &Module{store: s, program: p, pool: constants, compiled: compiled}, nil
}

// Close closes the store with all its modules and evaluators. Running evaluations finish or return
// ErrClosed. A second Close does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.runtime.Close(context.Background())
}

// Module is a compiled policy. It is safe for concurrent use, including Close.
type Module struct {
	store    *Store
	program  *ir.Program
	pool     pool
	compiled wazero.CompiledModule
	closed   bool // guarded by store.mu
}

// NewEvaluator makes an instance of the policy with its own memory. It takes some tens of
// microseconds and 85 KB (BenchmarkNewEvaluator), which stay in use until it is closed.
func (m *Module) NewEvaluator() (*Evaluator, error) {
	m.store.mu.RLock()
	defer m.store.mu.RUnlock()
	if m.store.closed || m.closed {
		return nil, ErrClosed
	}
	config := wazero.NewModuleConfig().WithName("") // anonymous, because there may be many
	instance, err := m.store.runtime.InstantiateModule(context.Background(), m.compiled, config)
	if err != nil {
		return nil, fmt.Errorf("isolate: %w", err)
	}
	return newEvaluator(m.program, m.pool, instance), nil
}

// Close makes the module refuse new evaluators, and frees its code once no evaluator uses it.
// Existing evaluators stay usable. A second Close does nothing.
func (m *Module) Close() error {
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	return m.compiled.Close(context.Background())
}
