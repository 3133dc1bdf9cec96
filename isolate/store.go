// Package isolate runs verified policies as WebAssembly, compiled to machine code: a policy reads
// the snapshot in a memory of its own, returns its verdict and can reach nothing else. A module has
// no imports, one memory of fixed size and one function without parameters.
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
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// ErrClosed is what everything returns whose store, module or evaluator has been closed.
var ErrClosed = errors.New("isolate: closed")

// Store holds compiled policies. It is safe for concurrent use, closing included.
type Store struct {
	runtime  wazero.Runtime
	compiled bool

	mu     sync.RWMutex // held for reading while something is made, for writing while something is closed
	closed bool
}

// NewStore makes an empty store. It uses wazero's compiler, or where that does not support the
// processor or the operating system forbids executable memory, wazero's interpreter; Compiled
// tells. Processors that store words big end first are refused, because a snapshot is written
// straight into WebAssembly's memory. The store is proved by running a policy, which takes about a
// millisecond; ctx can keep it from starting and is not held.
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
	// No termination checks (WithCloseOnContextDone): what is compiled here has a verified bound,
	// and they cost 8-45x.
	config = config.WithCoreFeatures(api.CoreFeaturesV1).WithMemoryLimitPages(maxPages).WithDebugInfoEnabled(false)
	s := &Store{runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	if err := s.probe(); err != nil {
		return nil, errors.Join(fmt.Errorf("isolate: a new store cannot evaluate a policy: %w", err), s.Close())
	}
	return s, nil
}

// probe runs the policy "continue()" and finds out which engine runs it.
func (s *Store) probe() error {
	m, err := s.compile(&policy.Program{Root: &policy.Node{Op: policy.OpVerdict, Type: stubs.Verdict}})
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
	// wazero does not tell its choice of engine; the package of the function does.
	s.compiled = strings.HasSuffix(reflect.TypeOf(e.function).Elem().PkgPath(), "/wazevo")
	return errors.Join(e.Close(), m.Close())
}

// Compiled reports whether policies run as machine code; if not, an evaluation takes about a
// microsecond more.
func (s *Store) Compiled() bool { return s.compiled }

// Compile translates a verified policy. It takes half a millisecond for a line of text
// (BenchmarkCompile), some ten for the longest that the default limits admit. It refuses the zero
// Verified, which proves nothing.
func (s *Store) Compile(v analyzer.Verified) (*Module, error) {
	p := v.Program()
	if p == nil {
		return nil, errors.New("isolate: nothing verified to compile; take what analyzer.Verify returns")
	}
	return s.compile(p)
}

func (s *Store) compile(p *policy.Program) (*Module, error) {
	code, err := generate(p)
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
	return &Module{store: s, program: p, compiled: compiled}, nil
}

// Close closes the store with all its modules and evaluators. Evaluations that are running end well
// or with ErrClosed. A second Close does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.runtime.Close(context.Background())
}

// Module is a compiled policy. It is safe for concurrent use, closing included.
type Module struct {
	store    *Store
	program  *policy.Program
	compiled wazero.CompiledModule
	closed   bool // under store.mu
}

// NewEvaluator makes an instance of the policy with a memory of its own. It takes some tens of
// microseconds and 85 KB (BenchmarkNewEvaluator), which stay until it is closed.
func (m *Module) NewEvaluator() (*Evaluator, error) {
	m.store.mu.RLock()
	defer m.store.mu.RUnlock()
	if m.store.closed || m.closed {
		return nil, ErrClosed
	}
	config := wazero.NewModuleConfig().WithName("") // anonymous: there may be many
	instance, err := m.store.runtime.InstantiateModule(context.Background(), m.compiled, config)
	if err != nil {
		return nil, fmt.Errorf("isolate: %w", err)
	}
	return newEvaluator(m.program, instance), nil
}

// Close makes the module refuse new evaluators and frees its code once no evaluator uses it. Its
// evaluators live on. A second Close does nothing.
func (m *Module) Close() error {
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	return m.compiled.Close(context.Background())
}
