package guest

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/cocoon-go/cocoon/guest/meter"
	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Module is a guest's code, metered and compiled. All methods are safe for concurrent use.
type Module struct {
	config   Config
	info     meter.Info
	runtime  wazero.Runtime
	owned    bool // runtime is closed with the module
	compiled wazero.CompiledModule
	exports  map[string]*export

	mu        sync.Mutex // guards what follows
	instances map[*Instance]struct{}
	closed    bool
	freed     bool
}

// export is an exported function.
type export struct {
	name     string
	index    int    // among the exported functions
	task     string // the name of its tasks and sections
	params   int    // in values of 64 bits
	results  int
	reusable bool
}

// find lists the exported functions.
func (m *Module) find() error {
	m.exports = map[string]*export{}
	for name, def := range m.compiled.ExportedFunctions() {
		m.exports[name] = &export{name: name, index: len(m.exports), task: m.config.Name + "." + name, params: words(def.ParamTypes()), results: words(def.ResultTypes())}
	}
	for _, name := range m.config.Reusable {
		if m.exports[name] == nil {
			return fmt.Errorf("Config.Reusable names %q, which the guest does not export", name)
		}
		m.exports[name].reusable = true
	}
	return nil
}

// words returns how many values of 64 bits wazero uses for values of the types.
func words(types []api.ValueType) int {
	const v128 = 0x7b
	n := len(types)
	for _, t := range types {
		if t == v128 {
			n++
		}
	}
	return n
}

// export returns the named function.
func (m *Module) export(name string) (*export, error) {
	if f := m.exports[name]; f != nil {
		return f, nil
	}
	return nil, m.missing(name)
}

// accepts returns an error if the function cannot be called with n parameters.
func (f *export) accepts(n int) error {
	if n != f.params {
		return fmt.Errorf("%s takes %d parameters, and got %d", about(f.task), f.params, n)
	}
	return nil
}

// export returns the named function.
func (in *Instance) export(name string) (*export, error) {
	if f := in.latest.Load(); f != nil && f.name == name {
		return f, nil
	}
	f, err := in.module.export(name)
	if err == nil {
		in.latest.Store(f)
	}
	return f, err
}

func (m *Module) missing(name string) error {
	return fmt.Errorf("%s exports no function %q", about(m.config.Name), name)
}

// Compile meters and compiles a WebAssembly binary. The binary must not be metered already. Compile
// takes as long as wazero's compiler, about 10 ms per MB, and the time for metering (bench: guest).
func Compile(ctx context.Context, wasm []byte, c Config) (*Module, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	metered, err := meter.Rewrite(wasm, meter.Config{Mechanism: c.Mechanism})
	if err != nil {
		return nil, locate(c.Name, err)
	}
	return compile(ctx, metered, c)
}

// compile compiles a metered binary.
func compile(ctx context.Context, metered []byte, c Config) (m *Module, err error) {
	m = &Module{config: c, runtime: c.Runtime}
	if m.info, _, err = meter.Inspect(metered); err != nil {
		return nil, locate(c.Name, err)
	}
	if m.runtime == nil {
		m.runtime, m.owned = wazero.NewRuntime(ctx), true
	}
	defer func() {
		if err != nil {
			err = errors.Join(locate(c.Name, err), m.Close(ctx))
			m = nil
		}
	}()
	if m.compiled, err = m.runtime.CompileModule(ctx, metered); err != nil {
		return m, err
	}
	if err = m.find(); err != nil {
		return m, err
	}
	return m, provide(ctx, m.runtime, m.compiled)
}

// Close shuts the module's instances down, and closes the compiled code, and the runtime if Compile
// made it. If ctx ends first, or inside a call of one of the instances, Close does not wait for the
// instances, and the last one frees the code when it ends.
func (m *Module) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	all := slices.Collect(maps.Keys(m.instances))
	m.mu.Unlock()
	for _, in := range all {
		in.close(ctx, ErrShutdown, nil)
	}
	for _, in := range all {
		if err := in.Shutdown(ctx); err != nil {
			return err
		}
	}
	return m.free(ctx)
}

// add registers in as an instance of the module, unless the module is closed.
func (m *Module) add(in *Instance) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return &ClosedError{Guest: m.config.Name, Cause: errModuleClosed}
	}
	if m.instances == nil {
		m.instances = map[*Instance]struct{}{}
	}
	m.instances[in] = struct{}{}
	return nil
}

// remove forgets an instance that has ended. The last one of a closed module frees the code.
func (m *Module) remove(ctx context.Context, in *Instance) {
	m.mu.Lock()
	delete(m.instances, in)
	m.mu.Unlock()
	m.free(ctx)
}

// free closes the code, if the module is closed and has no instance.
func (m *Module) free(ctx context.Context) error {
	m.mu.Lock()
	last := m.closed && len(m.instances) == 0 && !m.freed
	m.freed = m.freed || last
	m.mu.Unlock()
	switch {
	case !last:
		return nil
	case m.owned:
		return m.runtime.Close(ctx)
	case m.compiled != nil:
		return m.compiled.Close(ctx)
	}
	return nil
}

// Instantiate makes an instance: a memory, globals and tables of its own. The instance's start
// function and _initialize, if it has them, run as a task of ctx before Instantiate returns. The
// function _start, which is the main function of a command, does not run: Spawn or Call it. config
// may be nil. Instantiate ignores its start functions, and replaces its Nanosleep by one that a
// throw can end.
func (m *Module) Instantiate(ctx context.Context, config wazero.ModuleConfig) (*Instance, error) {
	if config == nil {
		config = wazero.NewModuleConfig().WithName("")
	}
	// it cannot ask for random bytes; wazero's default source has 5 KB
	if !importsWASI(m.compiled) {
		config = config.WithRandSource(crand.Reader)
	}
	in := &Instance{module: m,
		idle:    make([][]api.Function, len(m.exports)),
		closing: make(chan struct{}), ended: make(chan struct{}),
	}
	if m.config.Deterministic {
		in.turns.rng = rand.New(rand.NewPCG(m.config.Seed, 0))
	}
	if err := m.add(in); err != nil {
		return nil, err
	}
	err := in.loop(ctx).Run(ctx, m.config.Name+".start", func(ctx context.Context) error {
		return in.start(ctx, config.WithStartFunctions().WithNanosleep(in.nanosleep))
	})
	if err != nil {
		in.close(ctx, err, nil)
		return nil, locate(m.config.Name, err)
	}
	if m.config.Deterministic {
		in.Pause()
	}
	return in, nil
}

// start instantiates the module inside a task.
func (in *Instance) start(ctx context.Context, config wazero.ModuleConfig) (err error) {
	a := in.activate(&export{name: "start"}, false)
	defer a.over()
	a.Context, a.g, a.account = ctx, goroutine.ID(), &a.own
	a.account.set(&in.module.config, nil)
	if err := in.join(a); err != nil {
		return err
	}
	defer in.part(a)
	if err := a.enter(); err != nil {
		return err
	}
	in.api, err = in.module.runtime.InstantiateModule(a.scope, in.module.compiled, config)
	a.leave()
	if err != nil {
		return a.reason(err)
	}
	in.bind(in.api)
	if in.sp != nil {
		in.stacks.base = in.sp.Get()
	}
	if f := in.module.exports["_initialize"]; f != nil && f.params == 0 {
		_, err = in.run(ctx, in.activate(f, false), job{})
	}
	return err
}
