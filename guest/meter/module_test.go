package meter_test

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/cocoon-go/cocoon/guest/meter"
)

// custom is a custom section.
func custom(b builder, name, content string) builder { return b.section(0, text(name)+content) }

// names has a name section and a few other custom sections, an import, a start function and a
// shadow stack pointer that only the name section or the code shows.
func names(stack string) []byte {
	// takes a frame and gives it back
	frame := "\x23\x00\x41\x10\x6b\x22\x00\x24\x00\x20\x00\x41\x10\x6a\x24\x00"
	b := newModule().section(1, list(toNothing)).section(2, list(text("env")+text("log")+"\x00\x00")).
		section(3, list("\x00", "\x00")).section(6, list("\x7f\x01\x41\x80\x08\x0b", "\x7f\x01\x41\x00\x0b")).
		section(7, list(text("f")+"\x00\x01")).section(8, "\x02").
		section(10, list(body(list("\x01\x7f"), frame+"\x00"), body("\x00", "\x10\x00\x41\x01\x24\x01")))
	functions := "\x01" + text(list("\x00"+text("log"), "\x01"+text("trapping"), "\x02"+text("begin")))
	globals := "\x07" + text(list("\x00"+text(stack)))
	b = custom(b, "name", "\x00"+text(text("a module"))+functions+"\x03"+text(list("\x01"+list("\x00"+text("label"))))+globals)
	b = custom(b, ".debug_line", "offsets")
	b = custom(b, "metadata.code.branch_hint", "offsets")
	return custom(b, "producers", "people")
}

func TestCustomSections(t *testing.T) {
	ctx := context.Background()
	for _, stack := range []string{"__stack_pointer", "something"} { // then the code shows it
		wasm := names(stack)
		metered, err := meter.Rewrite(wasm, meter.Config{Mechanism: meter.Fuel})
		if err != nil {
			t.Fatal(err)
		}
		for section, want := range map[string]bool{".debug_line": false, "branch_hint": false, "producers": true, "a module": true, "label": false} {
			if got := bytes.Contains(metered, []byte(section)); got != want {
				t.Errorf("%q is in the metered module: %t; want %t", section, got, want)
			}
		}
		r := wazero.NewRuntime(ctx)
		defer r.Close(ctx)
		logged := 0
		nothing := api.GoFunc(func(context.Context, []uint64) { logged++ })
		host := func(module, name string) {
			if _, err := r.NewHostModuleBuilder(module).NewFunctionBuilder().WithGoFunction(nothing, nil, nil).Export(name).Instantiate(ctx); err != nil {
				t.Fatal(err)
			}
		}
		host("env", "log")
		host(meter.Host, meter.Safepoint)
		m, err := r.Instantiate(ctx, metered)
		if err != nil {
			t.Fatal(err)
		}
		if logged != 1 {
			t.Errorf("the start function calls the host %d times; want 1", logged)
		}
		if sp, ok := m.ExportedGlobal(meter.StackExport).(api.MutableGlobal); !ok || sp.Get() != 1024 {
			t.Errorf("the stack pointer is %v; want 1024", m.ExportedGlobal(meter.StackExport))
		}
		_, err = m.ExportedFunction("f").Call(ctx)
		if err == nil || !strings.Contains(err.Error(), ".trapping()") {
			t.Errorf("%v; want a trap in trapping", err)
		}
		info, ok, err := meter.Inspect(metered)
		want := meter.Info{Mechanism: meter.Fuel, Version: meter.Version, Safepoint: 1, Counter: 2, Export: meter.FuelExport, Stack: true, Private: 1}
		if err != nil || !ok || info != want {
			t.Errorf("Inspect: %+v, %t, %v; want %+v", info, ok, err, want)
		}
		if info, ok, err := meter.Inspect(wasm); err != nil || ok {
			t.Errorf("Inspect of the module as it was: %+v, %t, %v", info, ok, err)
		}
	}
}

func TestInspectRefuses(t *testing.T) {
	for name, wasm := range map[string][]byte{
		"another version":     custom(newModule(), meter.SectionName, "\x63\x00\x00\x00\x00"),
		"another mechanism":   custom(newModule(), meter.SectionName, "\x01\x09\x00\x00\x00"),
		"a section cut short": custom(newModule(), meter.SectionName, "\x01"),
		"no module":           []byte("hello"),
	} {
		if info, ok, err := meter.Inspect(wasm); err == nil || ok {
			t.Errorf("%s: %+v, %t; want an error", name, info, ok)
		}
	}
}

// FuzzRewrite gives the meter any bytes: it must neither panic nor take much memory. If it accepts
// them, the engine accepts the result exactly if it accepts the bytes.
func FuzzRewrite(f *testing.F) {
	for _, name := range []string{"fib.wasm", "dot.wasm", "traps.wasm"} {
		f.Add(readTestdata(f, name))
	}
	f.Add(names("__stack_pointer"))
	f.Add(ranged()[:400])
	for seed := range uint64(20) {
		f.Add(random(seed, true))
	}
	ctx := context.Background()
	engine := wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features).WithMemoryLimitPages(64)
	r := wazero.NewRuntimeWithConfig(ctx, engine)
	f.Fuzz(func(t *testing.T, wasm []byte) {
		if len(wasm) > 1<<16 {
			t.Skip()
		}
		for _, mechanism := range mechanisms {
			metered, err := rewriteWithin(t, wasm, mechanism, 1<<20)
			if err != nil {
				continue // wazero panics for some of these, as for a function of a type that does not exist
			}
			if again, err := meter.Rewrite(metered, meter.Config{}); err == nil {
				t.Fatalf("%v: it is metered twice: %x", mechanism, again)
			}
			plain, plainErr := r.CompileModule(ctx, wasm)
			compiled, err := r.CompileModule(ctx, metered)
			if plainErr != nil && strings.Contains(plainErr.Error(), "custom section") {
				continue // the meter may have left the section out
			}
			if (err == nil) != (plainErr == nil) {
				t.Fatalf("%v: metered %v; plain %v", mechanism, err, plainErr)
			}
			if err == nil {
				plain.Close(ctx)
				compiled.Close(ctx)
			}
		}
	})
}

// BenchmarkRewrite rewrites a module of 2000 functions like those of real guests.
func BenchmarkRewrite(b *testing.B) {
	one := readTestdata(b, "matrix.wasm")
	wasm := repeated(b, one, 4000)
	for _, mechanism := range mechanisms {
		b.Run(mechanism.String(), func(b *testing.B) {
			b.SetBytes(int64(len(wasm)))
			b.ReportAllocs()
			began := processorTime()
			for b.Loop() {
				if _, err := meter.Rewrite(wasm, meter.Config{Mechanism: mechanism}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(wasm)*b.N)/1e6/(processorTime()-began).Seconds(), "MB/cpu-s")
		})
	}
}

// repeated returns a module with the functions of another many times.
func repeated(b *testing.B, wasm []byte, times int) []byte {
	at := len("\x00asm\x01\x00\x00\x00")
	out := newModule()
	for at < len(wasm) {
		id := wasm[at]
		size, n := uint(0), 1
		for shift := 0; ; shift += 7 {
			size |= uint(wasm[at+n]&0x7f) << shift
			n++
			if wasm[at+n-1] < 0x80 {
				break
			}
		}
		content := wasm[at+n : at+n+int(size)]
		if id == 3 || id == 10 { // one byte counts the functions
			content = []byte(leb(int(content[0])*times) + strings.Repeat(string(content[1:]), times))
		}
		if id != 0 {
			out = out.section(id, string(content))
		}
		at += n + int(size)
	}
	return out
}

// rewriteWithin rewrites a module, and checks that this takes no more memory than ten times the
// module and the given number of bytes.
func rewriteWithin(t *testing.T, wasm []byte, mechanism meter.Mechanism, bytes uint64) ([]byte, error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	metered, err := meter.Rewrite(wasm, meter.Config{Mechanism: mechanism})
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > bytes+10*uint64(len(wasm)) {
		t.Fatalf("%v: %d bytes take %d in memory", mechanism, len(wasm), n)
	}
	return metered, err
}

// TestSimilarBulk: fills of memory share one function of the meter's, whatever stands before them.
func TestSimilarBulk(t *testing.T) {
	const fill = "\x41\x00\x41\x00\x41\x00\xfc\x0b\x00"
	load := func(offset int) string { return "\x41\x00\x28\x02" + leb(offset) + "\x1a" }
	fills := func(code string) int {
		metered, err := meter.Rewrite(simple(toNothing, body("\x00", code)), meter.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(metered), "\xfc\x0b\x00")
	}
	one, two := fills(load(20_000)+fill), fills(load(20_000)+fill+load(30_000)+fill)
	if one == 0 || one != two {
		t.Errorf("%d instructions fill memory; with one fill in the module %d", two, one)
	}
}
