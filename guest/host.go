package guest

import (
	"context"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest/meter"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// provide adds what the guest needs to the runtime, unless it is there: the host's side of safe
// points, and WASI if the guest imports it.
func provide(ctx context.Context, r wazero.Runtime, compiled wazero.CompiledModule) error {
	err := once(r, meter.Host, func() error {
		_, err := r.NewHostModuleBuilder(meter.Host).NewFunctionBuilder().
			WithGoModuleFunction(api.GoModuleFunc(atSafePoint), nil, nil).Export(meter.Safepoint).Instantiate(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if importsWASI(compiled) {
		return once(r, wasi_snapshot_preview1.ModuleName, func() error { return instantiateWASI(ctx, r) })
	}
	return nil
}

// importsWASI reports whether the guest imports a function of WASI.
func importsWASI(compiled wazero.CompiledModule) bool {
	for _, f := range compiled.ImportedFunctions() {
		if module, _, _ := f.Import(); module == wasi_snapshot_preview1.ModuleName {
			return true
		}
	}
	return false
}

// once makes the module of that name, if the runtime has none. If another goroutine makes it at the
// same time, either module will do.
func once(r wazero.Runtime, name string, instantiate func() error) error {
	if r.Module(name) != nil {
		return nil
	}
	if err := instantiate(); err != nil && r.Module(name) == nil {
		return err
	}
	return nil
}

// atSafePoint is what a guest calls when its counter is used up.
func atSafePoint(ctx context.Context, mod api.Module, _ []uint64) {
	a := activationOf(ctx)
	if a == nil || a.in.api != mod && a.in.api != nil {
		stray(ctx, mod)
		return
	}
	if a.in.left == nil { // its start function runs
		a.in.bind(mod)
	}
	a.look()
}

// stray is the safe point of a guest that was called in another way than by Call and Spawn. It is a
// safe point of its caller's task.
func stray(ctx context.Context, mod api.Module) {
	for _, name := range []string{meter.LeftExport, meter.FuelExport} {
		if left, ok := mod.ExportedGlobal(name).(api.MutableGlobal); ok {
			left.Set(firstUnits)
		}
	}
	cocoon.SafePoint(ctx)
}

// bind finds the globals of the metered module.
func (in *Instance) bind(mod api.Module) {
	name := meter.LeftExport
	if in.module.config.Mechanism == Fuel {
		name = meter.FuelExport
	}
	in.left, _ = mod.ExportedGlobal(name).(api.MutableGlobal)
	in.sp, _ = mod.ExportedGlobal(meter.StackExport).(api.MutableGlobal)
}

// Block is cocoon.Block for host functions: while fn runs, other tasks have the slot, and with
// Config.Threads other threads may run in the instance. Then fn must not use the guest's memory,
// and views of it from before are void afterwards. An instance with Config.Deterministic keeps its
// turn. Without a guest's call in ctx, Block is cocoon.Block.
func Block(ctx context.Context, fn func() error) (err error) {
	a := activationOf(ctx)
	if a == nil {
		return cocoon.Block(ctx, fn)
	}
	a.keeper().apart(func() { err = cocoon.Block(a.Context, fn) })
	return err
}
