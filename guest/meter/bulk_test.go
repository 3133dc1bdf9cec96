package meter_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/cocoon-go/cocoon/guest/meter"
)

const threeI32 = "\x60\x03\x7f\x7f\x7f\x00"

// ranged is a module with a memory of 32 pages and functions (d, s, n): copy, fill and init, the
// last of a passive segment of 300,000 bytes; and tcopy, tfill, tsum for a table of 100,000
// elements.
func ranged() []byte {
	operands := "\x20\x00\x20\x01\x20\x02"
	segment := strings.Repeat("abcdefghij", 30_000)
	return newModule().section(1, list(threeI32)).section(3, list("\x00", "\x00", "\x00", "\x00", "\x00")).
		section(4, list("\x70\x00"+leb(100_000))).section(5, list("\x00"+leb(32))).
		section(7, list(text("copy")+"\x00\x00", text("fill")+"\x00\x01", text("init")+"\x00\x02", text("tcopy")+"\x00\x03", text("tfill")+"\x00\x04", text("memory")+"\x02\x00")).
		section(12, "\x01").
		section(10, list(body("\x00", operands+"\xfc\x0a\x00\x00"), body("\x00", operands+"\xfc\x0b\x00"), body("\x00", operands+"\xfc\x08\x00\x00"),
			body("\x00", operands+"\xfc\x0e\x00\x00"), body("\x00", "\x20\x00\xd0\x70\x20\x02\xfc\x11\x00"))).
		section(11, list("\x01"+text(segment)))
}

// TestBulk compares long operations, which are done in parts, with those of the engine: memory and
// traps are the same, and a trap leaves memory as it was.
func TestBulk(t *testing.T) {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	plain, err := r.Instantiate(ctx, ranged())
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	const size = 32 << 16
	lengths := []uint64{0, 1, 256<<10 - 1, 256 << 10, 256<<10 + 1, 700_000, size, 1 << 31, 1<<32 - 1}
	places := []uint64{0, 1, 100_000, 1 << 20, size - 700_000, size, 1<<32 - 1}
	for _, mechanism := range mechanisms {
		g := start(t, ranged(), mechanism, 1000)
		memory, _ := g.Memory().Read(0, size)
		want, _ := plain.Memory().Read(0, size)
		for i := range memory {
			memory[i] = byte(random.Uint32())
		}
		copy(want, memory)
		for range 300 {
			name := []string{"copy", "fill", "init", "tcopy", "tfill"}[random.IntN(5)]
			args := []uint64{places[random.IntN(len(places))], places[random.IntN(len(places))], lengths[random.IntN(len(lengths))]}
			if strings.HasPrefix(name, "t") {
				args[2] /= 20
			}
			_, wantErr := plain.ExportedFunction(name).Call(ctx, args...)
			_, err := g.ExportedFunction(name).Call(ctx, args...)
			what := fmt.Sprintf("%v: %s%v", mechanism, name, args)
			if first(err) != first(wantErr) {
				t.Fatalf("%s: %s; want %s", what, first(err), first(wantErr))
			}
			if !bytes.Equal(memory, want) {
				t.Fatalf("%s: the memory differs", what)
			}
		}
	}
}

// first is the first line of an error.
func first(err error) string {
	if err == nil {
		return ""
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// TestBulkStops demands that a long operation passes safe points, and is charged its length before
// it runs.
func TestBulkStops(t *testing.T) {
	for _, mechanism := range mechanisms {
		g := start(t, ranged(), mechanism, 1<<13) // 128 KiB
		invoke(t, g, "fill", 0, 0x55, 1<<20)
		if g.calls < 3 {
			t.Errorf("%v: a fill of 1 MiB passes %d safe points that call", mechanism, g.calls)
		}
		if got, want := g.used(), int64(1<<20>>meter.ByteShift); got < want || got > want+100 {
			t.Errorf("%v: a fill of 1 MiB costs %d; want %d and little more", mechanism, got, want)
		}
		// The host throws in the first safe point: the operation has not begun.
		g = start(t, ranged(), mechanism, 0)
		g.at = func() { panic("stop") }
		if _, err := g.ExportedFunction("fill").Call(context.Background(), 0, 0x55, 1<<20); err == nil {
			t.Fatal("the operation went on")
		}
		if b, _ := g.Memory().ReadByte(0); b != 0 {
			t.Errorf("%v: the operation had begun before it was charged", mechanism)
		}
	}
}

// TestGrow demands that memory.grow and table.grow are charged what they clear, and nothing for
// what cannot be.
func TestGrow(t *testing.T) {
	wasm := simple(i32ToI32, body("\x00", "\x20\x00\x40\x00"))
	for _, mechanism := range mechanisms {
		g := start(t, wasm, mechanism, 1<<40)
		if got := invoke(t, g, "f", 16); got != 1 {
			t.Errorf("%v: memory.grow returns %d; want 1", mechanism, got)
		}
		if got, want := g.used(), int64(16*65536>>meter.ByteShift); got < want || got > want+200 {
			t.Errorf("%v: memory.grow by 16 pages costs %d; want %d and little more", mechanism, got, want)
		}
		before := g.used()
		if got := int32(invoke(t, g, "f", 1<<32-1)); got != -1 {
			t.Errorf("%v: memory.grow beyond all returns %d; want -1", mechanism, got)
		}
		if got := g.used() - before; got > 200 {
			t.Errorf("%v: memory.grow that fails costs %d", mechanism, got)
		}
	}
}
