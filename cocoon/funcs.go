package cocoon

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// Func names a function for registration if its own name is unsuitable, such as the name of a
// closure.
type Func struct {
	Name string
	Do   func(ctx context.Context)
}

// FuncName returns the name under which a function value is registered: its qualified name, such as
// "main.GetHandler". It returns "" if f is not a function.
func FuncName(f any) string {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		return ""
	}
	return strings.TrimSuffix(runtime.FuncForPC(v.Pointer()).Name(), "-fm")
}

// RegisterSafeFunc declares the tasks of a name safe: they may run while a preemptible task is
// suspended half-way. f is a name, a function value (see FuncName) or a Func. Policies can also
// call a func(), a func(context.Context) or a Func, with call("name"), by its full name or the part
// after the last dot. Such a call runs on a goroutine of its own, one at a time: while it runs,
// further calls are left out. The runtime logs calls that panic or call runtime.Goexit, and calls
// left out because one has run for more than a second. The context of a call ends at Shutdown.
func (rt *Runtime) RegisterSafeFunc(f any) error {
	name, do, err := funcOf("RegisterSafeFunc", f)
	if err != nil {
		return err
	}
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	if err := rt.mayBe(name, Safe); err != nil {
		return err
	}
	if do != nil {
		if err := rt.addFunc(name, do); err != nil {
			return err
		}
	}
	rt.register(name, Safe)
	return nil
}

// RegisterPreemptibleFunc declares the tasks of a name preemptible: they may be suspended at safe
// points. f has the same form as for RegisterSafeFunc. A name may be both preemptible and safe.
func (rt *Runtime) RegisterPreemptibleFunc(f any) error {
	name, _, err := funcOf("RegisterPreemptibleFunc", f)
	if err != nil {
		return err
	}
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	if err := rt.mayBe(name, Preemptible); err != nil {
		return err
	}
	rt.register(name, Preemptible)
	return nil
}

// funcOf returns the name that f stands for, and how to call it if policies may.
func funcOf(in string, f any) (name string, do func(context.Context), err error) {
	switch f := f.(type) {
	case string:
		name = f
	case Func:
		if f.Do == nil {
			return "", nil, fmt.Errorf("cocoon: %s: Func.Do is nil", in)
		}
		name, do = f.Name, f.Do
	case func():
		if name = FuncName(f); name != "" {
			do = func(context.Context) { f() }
		}
	case func(context.Context):
		name, do = FuncName(f), f
	default:
		name = FuncName(f)
	}
	if name == "" {
		return "", nil, fmt.Errorf("cocoon: %s of a %T that names no function; want a name, a function that is not nil, or a Func", in, f)
	}
	return name, do, nil
}

// addFunc registers a callable under its full and its short name. Called with regMu held.
func (rt *Runtime) addFunc(name string, do func(context.Context)) error {
	if rt.funcs[name] != nil {
		return fmt.Errorf("cocoon: function %q: %w", name, ErrDuplicate)
	}
	f := &safeFunc{name: name, do: do}
	rt.funcs[name] = f
	if short := name[strings.LastIndexByte(name, '.')+1:]; rt.funcs[short] == nil {
		rt.funcs[short] = f
	}
	return nil
}
