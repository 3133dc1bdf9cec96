package main

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/guest"
	"github.com/tetratelabs/wazero/api"
)

// cocoonGuest runs cocoon guest and returns its exit code and what it printed.
func cocoonGuest(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(append([]string{"guest"}, args...), streams{strings.NewReader(""), &o, &e})
	return code, o.String(), e.String()
}

func TestGuest(t *testing.T) {
	const fib = "../../guest/testdata/fib.wasm"
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.wasm")
	if err := os.WriteFile(broken, []byte("\x00asm\x01\x00\x00\x00\x01"), 0o600); err != nil {
		t.Fatal(err)
	}
	metered := filepath.Join(dir, "metered.wasm")
	for _, c := range []struct {
		args      string
		code      int
		out, errs string // contained
	}{
		{"run -invoke fib " + fib + " 20", 0, "6765\n", ""},
		{"run -mechanism fuel -stats -invoke fib " + fib + " 20", 0, "6765\n", ", fuel "},
		{"run -fuel 100000 -invoke spin " + fib, 1, "", "guest.spin has used 1000"},
		{"run -timeout 50ms -invoke spin " + fib, 1, "", "guest.spin ran longer than 50ms"},
		{"run -invoke grow ../../guest/testdata/wasi.wasm 1000", 0, "-1\n", ""},
		{"run -invoke nothing " + fib, 1, "", `guest exports no function "nothing"`},
		{"run -invoke fib " + fib, 1, "", "guest.fib takes 1 parameters, and got 0"},
		{"run -invoke fib " + fib + " x", 2, "", `the argument "x" of fib is no integer`},
		{"run -invoke fib " + fib + " 4294967296", 2, "", `the argument "4294967296" of fib is no integer of 32 bits`},
		{"run -timeout 50ms -invoke sleep ../../guest/testdata/wasi.wasm 3600000000000", 1, "", "guest.sleep ran longer than 50ms"},
		{"run " + fib, 1, "", `guest exports no function "_start"`},
		{"run " + broken, 1, "", "cocoon guest run: meter: type section, offset 0x9"},
		{"run nothing.wasm", 2, "", "nothing.wasm"},
		{"run", 2, "", "name the guest's file"},
		{"run -fuel -1 " + fib, 2, "", "want 0 or more"},
		{"run -slice 19us -invoke fib " + fib + " 20", 2, "", "-slice is 19µs; want at least 20µs"},
		{"run -slice 20us -invoke fib " + fib + " 20", 0, "6765\n", ""},
		{"run -mechanism steam " + fib, 2, "", "want epoch or fuel"},
		{"run -dir /nothing " + fib, 2, "", "/nothing is not a folder"},
		{"run -env x " + fib, 2, "", "want NAME=VALUE"},
		{"meter -mechanism fuel " + fib + " " + metered, 0, " bytes\n", ""},
		{"run -invoke fib " + metered + " 20", 1, "", "meter"},
		{"meter " + metered + " " + broken, 1, "", "meter"},
		{"meter " + fib, 2, "", "name two files"},
		{"", 2, "", "say run or meter"},
		{"walk", 2, "", `"walk" is none of run, meter`},
		{"-h", 0, "", "usage: cocoon guest run"},
		{"run -h", 0, "", "-slice"},
		{"meter -h", 0, "", "usage: cocoon guest run"},
	} {
		code, out, errs := cocoonGuest(strings.Fields(c.args)...)
		if c.args == "-h" {
			out, errs = "", out
		}
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) {
			t.Errorf("cocoon guest %s: exit code %d; want %d\nout %q, want %q\nerr %q, want %q", c.args, code, c.code, out, c.out, errs, c.errs)
		}
	}
}

// TestGuestLeastSlice: the bound of -slice is the bound of package guest, which does not export it.
func TestGuestLeastSlice(t *testing.T) {
	wasm, err := os.ReadFile("../../guest/testdata/fib.wasm")
	if err != nil {
		t.Fatal(err)
	}
	for slice, want := range map[time.Duration]bool{guestLeastSlice: true, guestLeastSlice - 1: false} {
		m, err := guest.Compile(t.Context(), wasm, guest.Config{Slice: slice})
		if (err == nil) != want {
			t.Errorf("a guest with slices of %v: %v", slice, err)
		}
		if err == nil {
			m.Close(t.Context())
		}
	}
}

// TestGuestReads: a guest that waits for its input ends after the timeout, and the command with it,
// although nothing ends the read.
func TestGuestReads(t *testing.T) {
	t.Parallel() // most of its time is a wait
	stdin, input := io.Pipe()
	var out, errs bytes.Buffer
	done := make(chan int)
	go func() {
		done <- run([]string{"guest", "run", "-timeout", "50ms", "-invoke", "read", "../../guest/testdata/wasi.wasm", "0"}, streams{stdin, &out, &errs})
	}()
	select {
	case code := <-done:
		if code != 1 || !strings.Contains(errs.String(), "guest.read ran longer than 50ms; the guest still waits in the host") {
			t.Errorf("exit code %d: %s", code, errs.String())
		}
	case <-time.After(20 * time.Second):
		t.Error("the command waits for the guest")
	}
	input.Close()
}

func TestParams(t *testing.T) {
	for _, c := range []struct {
		arg  string
		t    api.ValueType
		want uint64
	}{
		{"-1", api.ValueTypeI32, 0xffffffff},
		{"-1", api.ValueTypeI64, math.MaxUint64},
		{"18446744073709551615", api.ValueTypeI64, math.MaxUint64},
		{"0x10", api.ValueTypeI64, 16},
		{"1.5", api.ValueTypeF64, math.Float64bits(1.5)},
		{"2", api.ValueTypeF32, uint64(math.Float32bits(2))},
	} {
		if got, err := paramOf(c.arg, c.t); got != c.want || err != nil {
			t.Errorf("%s as %s: %#x, %v; want %#x", c.arg, api.ValueTypeName(c.t), got, err, c.want)
		}
	}
	if v, err := paramOf("1.5", api.ValueTypeI32); err == nil {
		t.Errorf("1.5 as an integer: %d", v)
	}
}
