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
		const i32, i64 = api.ValueTypeI32, api.ValueTypeI64
		host := r.NewHostModuleBuilder(meter.Host)
		export := func(name string, f api.GoModuleFunc, params, results []api.ValueType) {
			host.NewFunctionBuilder().WithGoModuleFunction(f, params, results).Export(name)
		}
		export(meter.Safepoint, atSafePoint, nil, nil)
		export(meter.Back, atWayBack, nil, nil)
		export(meter.Wait, atWait, []api.ValueType{i32, i64, i64, i32}, []api.ValueType{i32})
		export(meter.Notify, atNotify, []api.ValueType{i32, i32}, []api.ValueType{i32})
		_, err := host.Instantiate(ctx)
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

// atSafePoint is the host function that a guest calls when its counter is used up. It finds the
// call that the guest runs for, and lets it look.
func atSafePoint(ctx context.Context, mod api.Module, _ []uint64) {
	a := activationOf(ctx)
	switch {
	case a == nil:
		stray(mod)
		cocoon.SafePoint(ctx)
		return
	case a.in.api == nil: // its start function runs
		if a.in.left == nil {
			a.in.bind(mod)
		}
	case a.in.api != mod: // the guest has called it as an import
		a.account.used.Add(stray(mod))
	}
	a.look()
}

// atWayBack is the host function that a guest with fuel calls when it returns from a recursion.
func atWayBack(ctx context.Context, mod api.Module, _ []uint64) {
	if a := activationOf(ctx); a != nil && a.in.api == mod {
		a.lookBack()
	} else {
		cocoon.SafePoint(ctx)
	}
}

// strayUnits are what stray gives.
const strayUnits = 1 << 15

// stray refills the counter of a guest that was called in another way than by Call and Spawn. It
// returns the added fuel, which the caller pays in advance.
func stray(mod api.Module) (fuel int64) {
	if left, ok := mod.ExportedGlobal(meter.LeftExport).(api.MutableGlobal); ok {
		left.Set(strayUnits)
	}
	if left, ok := mod.ExportedGlobal(meter.FuelExport).(api.MutableGlobal); ok {
		fuel = strayUnits - int64(left.Get())
		left.Set(strayUnits)
	}
	return fuel
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
// and earlier views of the memory are void afterwards. An instance with Config.Deterministic keeps
// its turn. Without a guest's call in ctx, Block is cocoon.Block.
func Block(ctx context.Context, fn func() error) (err error) {
	a := activationOf(ctx)
	if a == nil {
		return cocoon.Block(ctx, fn)
	}
	a.keeper().apart(func() { err = cocoon.Block(a.Context, fn) })
	return err
}
