package main

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/cocoon-go/cocoon/guest"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// language is an interpreter that is a guest, and scripts for it.
type language struct {
	name    string
	wasm    []byte
	scripts scripts
	provide func(context.Context, wazero.Runtime, []byte) error // the imports that the guest needs
	open    func(context.Context, *guest.Instance) error        // nil: a new instance is ready
	eval    func(context.Context, *guest.Instance, string) (int64, error)
	command func(context.Context, *guest.Module, string) (int64, error) // in an instance of its own; nil: eval
	want    int64                                                       // what the script primes returns
}

// scripts are the tenants' scripts.
type scripts struct{ primes, endless, urgent string }

const (
	primes = 168 // below 1000
	answer = 42
)

//go:embed forth/forth.wasm
var forthWasm []byte

// forth is the interpreter in the folder forth.
func forth() *language {
	return &language{
		name: "Forth", wasm: forthWasm, want: primes,
		scripts: scripts{
			primes: `0 c! 2 n! begin n@ 1000 < while
				2 d! begin n@ d@ mod while d@ 1 + d! repeat
				d@ n@ = if c@ 1 + c! then n@ 1 + n! repeat c@`,
			endless: "begin 1 while repeat 0",
			urgent:  "6 7 *",
		},
		eval: func(ctx context.Context, in *guest.Instance, script string) (int64, error) {
			at, err := in.Call(ctx, "source")
			if err != nil {
				return 0, err
			}
			if !in.Memory().WriteString(uint32(at[0]), script) {
				return 0, fmt.Errorf("a script of %d bytes is too long", len(script))
			}
			v, err := in.Call(ctx, "run", uint64(len(script)))
			if err != nil {
				return 0, err
			}
			return int64(v[0]), nil
		},
	}
}

// javaScript is QuickJS, as the npm package quickjs-wasi has it.
func javaScript(wasm []byte) *language {
	return &language{
		name: "JavaScript", wasm: wasm, want: primes,
		scripts: scripts{
			primes: `(() => { let c = 0; for (let n = 2; n < 1000; n++) {
				let d = 2; while (n % d) d++; if (d == n) c++ } return c })()`,
			endless: "while (true) {}",
			urgent:  "6 * 7",
		},
		provide: provideNothing,
		open: func(ctx context.Context, in *guest.Instance) error {
			_, err := in.Call(ctx, "qjs_init")
			return err
		},
		eval: evalJavaScript,
	}
}

// provideNothing gives the guest functions of the host that return 0: QuickJS calls them for
// modules, promises and interrupts, which these scripts do not use.
func provideNothing(ctx context.Context, r wazero.Runtime, wasm []byte) error {
	compiled, err := r.CompileModule(ctx, wasm)
	if err != nil {
		return err
	}
	defer compiled.Close(ctx)
	env := r.NewHostModuleBuilder("env")
	zero := api.GoFunc(func(_ context.Context, stack []uint64) { clear(stack) })
	for _, f := range compiled.ImportedFunctions() {
		if module, name, _ := f.Import(); module == "env" {
			env.NewFunctionBuilder().WithGoFunction(zero, f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	_, err = env.Instantiate(ctx)
	return err
}

func evalJavaScript(ctx context.Context, in *guest.Instance, script string) (int64, error) {
	at, err := in.Call(ctx, "wasm_malloc", uint64(len(script)+1))
	if err != nil {
		return 0, err
	}
	if !in.Memory().WriteString(uint32(at[0]), script+"\x00") {
		return 0, fmt.Errorf("a script of %d bytes is too long", len(script))
	}
	v, err := in.Call(ctx, "qjs_eval", at[0], uint64(len(script)), at[0]+uint64(len(script)), 0)
	if err != nil {
		return 0, err
	}
	f, err := in.Call(ctx, "qjs_get_float64", v[0])
	if err != nil {
		return 0, err
	}
	for _, free := range []struct {
		function string
		value    uint64
	}{{"qjs_free_value", v[0]}, {"wasm_free", at[0]}} {
		if _, err := in.Call(ctx, free.function, free.value); err != nil {
			return 0, err
		}
	}
	return int64(api.DecodeF64(f[0])), nil
}
