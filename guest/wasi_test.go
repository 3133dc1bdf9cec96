package guest

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/sys"
)

//go:embed testdata/wasi.wasm
var wasiGuest []byte

// wasiModule returns the guest that calls WASI.
func wasiModule(t *testing.T, c Config) *Module {
	t.Helper()
	m, err := Compile(background, wasiGuest, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close(background) })
	return m
}

func wasiInstance(t *testing.T, m *Module, c wazero.ModuleConfig) *Instance {
	t.Helper()
	in, err := m.Instantiate(background, c.WithName(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Shutdown(background) })
	return in
}

// result waits for the only result of a thread.
func result(t *testing.T, th *Thread) uint64 {
	t.Helper()
	got, err := th.Wait(background)
	if err != nil {
		t.Fatal(err)
	}
	return append(got, 0)[0]
}

// blocked waits until the thread is in a Block.
func blocked(t *testing.T, th *Thread) {
	t.Helper()
	soon(t, "the thread is in a Block", func() bool {
		return th.Account().Blocked > 0
	})
}

// TestSleep: while a guest sleeps, other tasks have its slot and other threads of the instance run,
// and may let the memory move. A throw and Shutdown end the sleep.
func TestSleep(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := wasiInstance(t, wasiModule(t, c), wazero.NewModuleConfig())
		long := in.Spawn(background, "sleep", uint64(time.Hour))
		blocked(t, long)
		short := in.Spawn(background, "sleep", uint64(30*time.Millisecond))
		begin := time.Now()
		if got := uint32(result(t, in.Spawn(background, "grow", 90))); got == math.MaxUint32 {
			t.Error("the memory did not grow")
		}
		if uint32(result(t, short)) != 0 || time.Since(begin) < 25*time.Millisecond {
			t.Errorf("a sleep of 30 ms took %v", time.Since(begin))
		}
		if n, _ := in.Memory().ReadUint32Le(2048); n != 1 {
			t.Errorf("the sleep returned %d events", n)
		}
		if a := short.Account(); a.Blocked < 20*time.Millisecond {
			t.Errorf("the account of the sleep is %+v", a)
		}
		if uint32(result(t, in.Spawn(background, "sleep", 0))) != 0 {
			t.Error("a sleep of 0 ns fails")
		}
		begin = time.Now()
		long.Cancel()
		if _, err := long.Wait(background); !errors.Is(err, cocoon.ErrCancelled) {
			t.Errorf("the sleep was thrown into, and ended with %v", err)
		}
		in = wasiInstance(t, wasiModule(t, c), wazero.NewModuleConfig())
		long = in.Spawn(background, "sleep", math.MaxUint64)
		blocked(t, long)
		if err := in.Shutdown(background); err != nil {
			t.Error(err)
		}
		if _, err := long.Wait(background); err == nil || time.Since(begin) > 10*time.Second {
			t.Errorf("Shutdown: the sleep ended with %v after %v", err, time.Since(begin))
		}
	})
}

// TestPollRefused: poll_oneoff refuses what plain wazero refuses.
func TestPollRefused(t *testing.T) {
	in := wasiInstance(t, wasiModule(t, Config{}), wazero.NewModuleConfig())
	for _, args := range [][]uint64{{1024, 1536, 0, 2048}, {131072, 0, 1, 0}, {0, 1024, math.MaxUint32, 0}, {0, 1 << 30, 1, 0}} {
		got, err := in.Call(background, "any", args...)
		if err != nil || uint32(got[0]) == 0 {
			t.Errorf("poll_oneoff%v: %d, %v; want an errno", args, got, err)
		}
	}
	in.Memory().WriteUint16Le(1064, 1) // until a point in time
	if got, err := in.Call(background, "any", 1024, 1536, 1, 2048); err != nil || uint32(got[0]) == 0 {
		t.Errorf("an absolute time: %d, %v; want an errno", got, err)
	}
}

// TestRead: a guest that waits for its input, or for the reader of its output, gives its slot to
// other tasks.
func TestRead(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		m := wasiModule(t, c)
		stdin, input := io.Pipe()
		output, stdout := io.Pipe()
		in := wasiInstance(t, m, wazero.NewModuleConfig().WithStdin(stdin).WithStdout(stdout))
		other := wasiInstance(t, m, wazero.NewModuleConfig())
		for _, x := range []struct {
			function string
			args     []uint64
			finish   func()
			want     uint64
		}{
			{"read", []uint64{0}, func() { input.Write([]byte("abc")) }, 'a' | 'b'<<8 | 'c'<<16},
			{"write", []uint64{1, 3}, func() { io.CopyN(io.Discard, output, 3<<16) }, 0},
		} {
			th := in.Spawn(background, x.function, x.args...)
			soon(t, "the thread begins", func() bool { return th.Task() != nil })
			result(t, other.Spawn(background, "set", 5000)) // on the only slot
			x.finish()
			if got := result(t, th); got != x.want {
				t.Errorf("%s returned %#x; want %#x", x.function, got, x.want)
			}
		}
	})
}

// TestPoll: a guest that waits for its input or a clock, whichever is first, gives its slot to
// other tasks.
func TestPoll(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		m := wasiModule(t, c)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		defer w.Close()
		in := wasiInstance(t, m, wazero.NewModuleConfig().WithStdin(r))
		th := in.Spawn(background, "poll", uint64(time.Minute))
		soon(t, "the thread begins", func() bool { return th.Task() != nil })
		result(t, wasiInstance(t, m, wazero.NewModuleConfig()).Spawn(background, "set", 5000))
		if _, err := w.WriteString("x"); err != nil {
			t.Fatal(err)
		}
		if got := uint32(result(t, th)); got != 0 {
			t.Errorf("poll returned %d", got)
		}
	})
}

// TestSchedYield: a guest's sched_yield lets other threads of the instance run.
func TestSchedYield(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		c.Slice = time.Hour
		in := wasiInstance(t, wasiModule(t, c), wazero.NewModuleConfig())
		th := in.Spawn(background, "await", 5000)
		soon(t, "the thread begins", func() bool { return th.Task() != nil })
		result(t, in.Spawn(background, "set", 5000))
		result(t, th)
	})
}

// TestExit: a guest's exit ends its call and closes the instance, and with 0 it is no error.
func TestExit(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		m := wasiModule(t, c)
		for code := range uint64(2) {
			in := wasiInstance(t, m, wazero.NewModuleConfig())
			sleeping := in.Spawn(background, "sleep", uint64(time.Hour))
			blocked(t, sleeping)
			_, err := in.Call(background, "exit", code)
			var exit *sys.ExitError
			if code == 0 && err != nil || code != 0 && (!errors.As(err, &exit) || exit.ExitCode() != uint32(code)) {
				t.Errorf("exit(%d) ended with %v", code, err)
			}
			if _, err := sleeping.Wait(background); err == nil {
				t.Error("after the exit, a thread slept on")
			}
			if _, err := in.Call(background, "set", 0); err == nil || !strings.Contains(err.Error(), "exited with code") {
				t.Errorf("a call after the exit: %v", err)
			}
		}
	})
}

// busyWriter computes in each Write.
type busyWriter struct{ left int }

func (w *busyWriter) Write(b []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, errors.New("nobody has stopped the guest")
	}
	for begin := time.Now(); time.Since(begin) < 200*time.Microsecond; {
	}
	return len(b), nil
}

// TestLimitOnOutput: the work that a guest makes the host do in WASI counts as running, so the
// guest cannot escape its limit with it.
func TestLimitOnOutput(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		if _, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "guest.write", Limit: 50 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		in := wasiInstance(t, wasiModule(t, c), wazero.NewModuleConfig().WithStdout(&busyWriter{left: 10000}))
		th := in.Spawn(background, "write", 1, math.MaxUint32)
		_, err := th.Wait(background)
		var throw *cocoon.PreemptedError
		if a := th.Account(); !errors.As(err, &throw) || a.Running < a.Blocked {
			t.Errorf("the guest ended with %v; its account is %+v", err, a)
		}
	})
}

// TestPaceOfWrites: a guest that looks early, after short calls of WASI, gets no more for it: it
// might compute for long next.
func TestPaceOfWrites(t *testing.T) {
	in := wasiInstance(t, wasiModule(t, Config{}), wazero.NewModuleConfig().WithStdout(io.Discard))
	if _, err := in.Call(background, "write", 1, 1000); err != nil {
		t.Fatal(err)
	}
	if n := in.pace.units; n >= mostUnits {
		t.Errorf("the guest may run %d units until it looks", n)
	}
}

type badReader struct{}

func (badReader) Read([]byte) (int, error) { panic("the reader panics") }

// TestPanicInWASI: after the host's reader has panicked inside WASI, the task goes on like any
// other: it can be thrown into.
func TestPanicInWASI(t *testing.T) {
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		in := wasiInstance(t, wasiModule(t, c), wazero.NewModuleConfig().WithStdin(badReader{}))
		err := rt.Run(background, "task", func(ctx context.Context) error {
			if _, err := in.Call(ctx, "read", 0); err == nil || !strings.Contains(err.Error(), "the reader panics") {
				t.Errorf("the call ended with %v", err)
			}
			cocoon.TaskOf(ctx).Cancel()
			cocoon.SafePoint(ctx)
			t.Error("the task was cancelled, and passed a safe point")
			return nil
		})
		if !errors.Is(err, cocoon.ErrCancelled) {
			t.Errorf("the task ended with %v", err)
		}
	})
}
