package meter_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/cocoon-go/cocoon/guest/meter"
	"github.com/cocoon-go/cocoon/internal/longtest"
)

// hostile are modules that are small and ask for much.
var hostile = map[string]func() []byte{
	"a million functions": func() []byte {
		n := longtest.Count(1_000_000, 200_000)
		return newModule().section(1, list(toNothing)).section(3, leb(n)+strings.Repeat("\x00", n)).
			section(10, leb(n)+strings.Repeat(body("\x00", ""), n))
	},
	"calls in a chain": func() []byte { // each function calls the next one twice
		const n = 50_000
		var code strings.Builder
		for i := range n - 1 {
			call := "\x10" + leb(i+1)
			code.WriteString(body("\x00", call+call))
		}
		code.WriteString(body("\x00", ""))
		return newModule().section(1, list(toNothing)).section(3, leb(n)+strings.Repeat("\x00", n)).section(10, leb(n)+code.String())
	},
	"calls in a circle": func() []byte {
		const n = 50_000
		var code strings.Builder
		for i := range n {
			code.WriteString(body("\x00", "\x10"+leb((i+1)%n)))
		}
		return newModule().section(1, list(toNothing)).section(3, leb(n)+strings.Repeat("\x00", n)).section(10, leb(n)+code.String())
	},
	"deep blocks": func() []byte {
		const n = 100_000
		return simple(toNothing, body("\x00", strings.Repeat("\x02\x40", n)+strings.Repeat("\x0b", n)))
	},
	"deep loops": func() []byte {
		const n = 100_000
		return simple(toNothing, body("\x00", strings.Repeat("\x03\x40", n)+strings.Repeat("\x41\x00\x0d\x00\x0b", n)))
	},
	"loops in a row": func() []byte {
		return simple(toNothing, body("\x00", strings.Repeat("\x03\x40\x41\x00\x0d\x00\x0b", 100_000)))
	},
	"branches in a row": func() []byte {
		return simple(toNothing, body("\x00", strings.Repeat("\x41\x00\x04\x40\x41\x00\x1a\x0b", 100_000)))
	},
	"a huge table of labels": func() []byte {
		n := longtest.Count(1_000_000, 200_000)
		return simple(toNothing, body("\x00", "\x03\x40\x41\x00\x0e"+leb(n)+strings.Repeat("\x00", n)+"\x00\x0b"))
	},
	"many locals": func() []byte {
		return simple(toNothing, body(list("\xff\xff\xff\xff\x07\x7f"), ""))
	},
	"many tables in bulk operations": func() []byte {
		const n = 1000
		var code strings.Builder
		for i := range n {
			code.WriteString("\x41\x00\x41\x00\x41\x00\xfc\x0e" + leb(i) + leb(i*7%n))
		}
		return newModule().section(1, list(toNothing)).section(3, list("\x00")).section(4, leb(n)+strings.Repeat("\x70\x00\x01", n)).
			section(10, list(body("\x00", code.String())))
	},
}

// slower is how much more time and memory this build may take.
var slower = 1

// TestHostile demands that each hostile module is rewritten, or refused with an error, at a rate of
// at least 5 MB/s after a start of seconds, with allocations of at most half a megabyte and ten
// times its size. Ordinary modules have a benchmark.
func TestHostile(t *testing.T) {
	for name, build := range hostile {
		t.Run(name, func(t *testing.T) {
			wasm := build()
			for _, mechanism := range longtest.Cases(mechanisms, 1) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				began := time.Now()
				metered, err := meter.Rewrite(wasm, meter.Config{Mechanism: mechanism})
				took := time.Since(began)
				runtime.ReadMemStats(&after)
				factor := max(0, float64(after.TotalAlloc-before.TotalAlloc)-512<<10) / float64(len(wasm))
				t.Logf("%v: %d bytes, %d after, %v, %.1f times the size in memory, %v", mechanism, len(wasm), len(metered), took, factor, err)
				if factor > 10*float64(slower) {
					t.Errorf("%v: it allocates %.1f times the module's size", mechanism, factor)
				}
				if limit := time.Duration(slower) * (5*time.Second + time.Duration(len(wasm)/5)*time.Microsecond); took > limit {
					t.Errorf("%v: it takes %v; want at most %v", mechanism, took, limit)
				}
			}
		})
	}
}

func TestRefused(t *testing.T) {
	valid := readTestdata(t, "fib.wasm")
	for _, mechanism := range mechanisms {
		metered, err := meter.Rewrite(valid, meter.Config{Mechanism: mechanism})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = meter.Rewrite(metered, meter.Config{}); err == nil || !strings.Contains(err.Error(), "metered already") {
			t.Errorf("metered twice: %v", err)
		}
	}
	for name, c := range map[string]struct {
		wasm []byte
		want string
	}{
		"nothing":             {nil, "offset 0x0: this is not a WebAssembly module"},
		"text":                {[]byte("(module)"), "not a WebAssembly module"},
		"unknown instruction": {simple(toNothing, body("\x00", "\x01\xc7")), "code section, function 0, offset 0x2d: unknown instruction 0xc7"},
		"unknown vector":      {simple(toNothing, body("\x00", "\xfd\x9a\x01")), "unknown instruction 0xfd9a"},
		"no such function":    {simple(toNothing, body("\x00", "\x10\x01")), "function 1 does not exist"},
		"no such local":       {simple(toNothing, body("\x00", "\x20\x00\x1a")), "local 0 does not exist"},
		"no such global":      {simple(toNothing, body("\x00", "\x23\x00\x1a")), "global 0 does not exist"},
		"no such label":       {simple(toNothing, body("\x00", "\x0c\x01")), "label 1 does not exist"},
		"no such type":        {simple(toNothing, body("\x00", "\x02\x01\x0b")), "type 1 does not exist"},
		"no end":              {newModule().section(1, list(toNothing)).section(3, list("\x00")).section(10, list("\x02\x00\x01")), "the function has no end"},
		"code after the end":  {newModule().section(1, list(toNothing)).section(3, list("\x00")).section(10, list("\x03\x00\x0b\x01")), "instructions follow the function's end"},
		"its own export":      {newModule().section(6, list("\x7e\x01\x42\x00\x0b")).section(7, list(text(meter.FuelExport)+"\x03\x00")), "the meter needs that name"},
		"unknown mechanism":   {valid, "unknown mechanism Mechanism(7)"},
	} {
		t.Run(name, func(t *testing.T) {
			config := meter.Config{}
			if name == "unknown mechanism" {
				config.Mechanism = 7
			}
			_, err := meter.Rewrite(c.wasm, config)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
			if e := (*meter.Error)(nil); config.Mechanism == 0 && !errors.As(err, &e) {
				t.Errorf("%T; want *meter.Error", err)
			}
		})
	}
}

// TestTruncated cuts modules at every byte: the meter gives an error, or the engine refuses what it
// gives.
func TestTruncated(t *testing.T) {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	for _, name := range []string{"fib.wasm", "dot.wasm", "matrix.wasm"} {
		wasm := readTestdata(t, name)
		for n := range wasm {
			_, plain := r.CompileModule(ctx, wasm[:n])
			for _, mechanism := range mechanisms {
				metered, err := meter.Rewrite(wasm[:n:n], meter.Config{Mechanism: mechanism})
				if err == nil {
					_, err = r.CompileModule(ctx, metered)
				}
				if (err == nil) != (plain == nil) {
					t.Fatalf("%s, %d bytes: %v: metered %v; plain %v", name, n, mechanism, err, plain)
				}
			}
		}
	}
}

// TestEmpty meters a module without anything: it has what each metered module has.
func TestEmpty(t *testing.T) {
	g := start(t, newModule(), meter.Fuel, 1)
	if g.left == nil || g.left.Get() != 0 {
		t.Errorf("the module has no fuel")
	}
}

func readTestdata(t testing.TB, name string) []byte {
	t.Helper()
	wasm, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}
