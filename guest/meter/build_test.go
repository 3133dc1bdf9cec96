package meter_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/cocoon-go/cocoon/guest/meter"
)

// A builder builds a module for a test, section by section in the order of their numbers.
type builder []byte

func newModule() builder { return builder("\x00asm\x01\x00\x00\x00") }

// leb is a number in LEB128.
func leb(n int) string { return string(binary.AppendUvarint(nil, uint64(n))) }

// sleb is a signed number in LEB128.
func sleb(n int64) string {
	var b []byte
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return string(append(b, c))
		}
		b = append(b, c|0x80)
	}
}

// list is a vector.
func list(items ...string) string {
	all := leb(len(items))
	for _, item := range items {
		all += item
	}
	return all
}

func text(s string) string { return leb(len(s)) + s }

// section appends a section.
func (b builder) section(id byte, content string) builder {
	b = append(b, id)
	return append(append(b, leb(len(content))...), content...)
}

// body is a function body: groups of locals, and code without its end.
func body(locals, code string) string {
	all := locals + code + "\x0b"
	return leb(len(all)) + all
}

// simple is a module with functions of one type, a memory of a page that is exported as "memory",
// and the first function as "f".
func simple(kind string, bodies ...string) []byte {
	var types []string
	for range bodies {
		types = append(types, "\x00")
	}
	return newModule().section(1, list(kind)).section(3, list(types...)).section(5, list("\x00\x01")).
		section(7, list(text("f")+"\x00\x00", text("memory")+"\x02\x00")).section(10, list(bodies...))
}

// Types of functions.
const (
	toNothing = "\x60\x00\x00"
	i32ToI32  = "\x60\x01\x7f\x01\x7f"
)

// A guest is an instance of a metered module, and what its safe point saw.
type guest struct {
	api.Module
	left  api.MutableGlobal
	slice int64
	calls int
	given int64 // the sum of what safe points added
	least int64 // the lowest value of what was left
	close func()
	at    func() // called by each safe point
}

// start meters a module and instantiates it in wazero's compiler. Each safe point gives the slice.
func start(t testing.TB, wasm []byte, mechanism meter.Mechanism, slice int64) *guest {
	t.Helper()
	return startIn(t, wazero.NewRuntimeConfig(), wasm, mechanism, slice)
}

// startIn does so in an engine.
func startIn(t testing.TB, engine wazero.RuntimeConfig, wasm []byte, mechanism meter.Mechanism, slice int64) *guest {
	t.Helper()
	metered, err := meter.Rewrite(wasm, meter.Config{Mechanism: mechanism})
	if err != nil {
		t.Fatal(err)
	}
	return run(t, engine, metered, slice)
}

// run instantiates a metered module.
func run(t testing.TB, engine wazero.RuntimeConfig, metered []byte, slice int64) *guest {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, engine.WithCoreFeatures(features))
	g := &guest{slice: slice, close: func() { r.Close(ctx) }}
	t.Cleanup(g.close)
	safepoint := api.GoModuleFunc(func(_ context.Context, m api.Module, _ []uint64) {
		g.calls++
		if g.left == nil {
			g.left = counter(m)
		}
		if g.at != nil {
			g.at()
		}
		left := int64(g.left.Get())
		g.least = min(g.least, left)
		g.given += g.slice - left
		g.left.Set(uint64(g.slice))
	})
	back := api.GoModuleFunc(func(context.Context, api.Module, []uint64) {
		g.calls++
		if g.at != nil {
			g.at()
		}
	})
	_, err := r.NewHostModuleBuilder(meter.Host).NewFunctionBuilder().WithGoModuleFunction(safepoint, nil, nil).Export(meter.Safepoint).
		NewFunctionBuilder().WithGoModuleFunction(back, nil, nil).Export(meter.Back).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if g.Module, err = r.Instantiate(ctx, metered); err != nil {
		t.Fatal(err)
	}
	g.left = counter(g.Module)
	return g
}

// used is what the guest was charged since it started.
func (g *guest) used() int64 { return g.given - int64(g.left.Get()) }

// engines are wazero's compiler and interpreter.
var engines = []wazero.RuntimeConfig{wazero.NewRuntimeConfigCompiler(), wazero.NewRuntimeConfigInterpreter()}

// call calls a function without results.
func call(g *guest, name string) error {
	_, err := g.ExportedFunction(name).Call(context.Background())
	return err
}
