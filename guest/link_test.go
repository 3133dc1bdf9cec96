package guest

import (
	"errors"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/tetratelabs/wazero"
)

// linked is (module (import "b" "spin" (func $f)) (func (export "run") (call $f))).
var linked = []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x02\x0a\x01\x01b\x04spin\x00\x00\x03\x02\x01\x00" +
	"\x07\x07\x01\x03run\x00\x01\x0a\x06\x01\x04\x00\x10\x00\x0b")

// TestLinkedInstances: a call that runs in a function of another instance, which the guest imports,
// is paused, shares its slot, uses up its budget and is shut down like any other.
func TestLinkedInstances(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		c.Threads = false
		callee := compiled(t, c, nil)
		b, err := callee.Instantiate(background, wazero.NewModuleConfig().WithName("b"))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Shutdown(background)
		c.Runtime, c.Name = callee.runtime, "caller"
		m, err := Compile(background, linked, c)
		if err != nil {
			t.Fatal(err)
		}
		in := instance(t, m)
		th := in.Spawn(background, "run")
		soon(t, "the loop runs", func() bool { return th.Account().Running > 5*time.Millisecond })
		in.Pause()
		soon(t, "the loop is paused", func() bool {
			was := th.Account().Running
			time.Sleep(5 * time.Millisecond)
			return th.Account().Running == was
		})
		in.Resume()
		was := th.Account().Running
		soon(t, "the loop goes on", func() bool { return th.Account().Running > was+5*time.Millisecond })
		if err := in.Shutdown(background); err != nil {
			t.Error(err)
		}
		if _, err := th.Wait(background); err == nil {
			t.Error("Shutdown ended the loop without an error")
		}
		if c.Mechanism != Fuel {
			return
		}
		c.Budget = 1_000_000
		if m, err = Compile(background, linked, c); err != nil {
			t.Fatal(err)
		}
		var fuel *FuelError
		if _, err := instance(t, m).Call(background, "run"); !errors.As(err, &fuel) || fuel.Used > 2*c.Budget {
			t.Errorf("the loop ended with %v; want a *FuelError soon after %d units", err, c.Budget)
		}
	})
}
