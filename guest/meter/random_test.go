package meter_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/cocoon-go/cocoon/guest/meter"
	"github.com/cocoon-go/cocoon/internal/longtest"
)

// A generator writes valid functions at random. Each function, and each turn of a loop, takes one
// from a budget, and traps when it is used up, so that each program ends.
type generator struct {
	*rand.Rand
	strings.Builder
	labels    []byte // types of the labels that are open, 0 for none
	functions int
	throws    bool // programs throw exceptions and catch them
	size      int  // instructions that may be written yet
}

// Value types, and the operations on two values of each.
var operations = map[byte]string{
	0x7f: "\x6a\x6b\x6c\x6d\x6e\x6f\x70\x71\x72\x73\x74\x75\x77",
	0x7e: "\x7c\x7d\x7e\x7f\x80\x81\x82\x83\x84\x85\x86\x87\x89",
	0x7c: "\xa0\xa1\xa2\xa3\xa4\xa5",
}

// local returns a local of a type: parameters 0 and 1, then two of each type.
func (g *generator) local(t byte) string {
	switch t {
	case 0x7f:
		return leb([]int{0, 2, 3}[g.IntN(3)])
	case 0x7e:
		return leb([]int{1, 4, 5}[g.IntN(3)])
	}
	return leb(6 + g.IntN(2))
}

func (g *generator) kind() byte { return "\x7f\x7e\x7c"[g.IntN(3)] }

// value writes code that leaves a value of the type.
func (g *generator) value(t byte, depth int) {
	g.size--
	if depth > 6 || g.size < 0 {
		g.leaf(t)
		return
	}
	switch g.IntN(14) {
	case 0, 1, 2, 3:
		g.leaf(t)
	case 4, 5, 6:
		g.value(t, depth+1)
		g.value(t, depth+1)
		g.WriteByte(operations[t][g.IntN(len(operations[t]))])
	case 7:
		g.construct(t, depth)
	case 8: // a branch that may leave with a value of its label
		g.value(t, depth+1)
		g.branch(t, depth)
	case 9:
		g.load(t, depth)
	case 10:
		g.call(t, depth)
	case 11:
		g.convert(t, depth)
	case 12:
		g.value(t, depth+1)
		g.WriteString("\x22" + g.local(t))
	case 13:
		g.statement(depth + 1)
		g.value(t, depth+1)
	}
}

func (g *generator) leaf(t byte) {
	switch {
	case g.IntN(2) == 0:
		g.WriteString("\x20" + g.local(t))
	case t == 0x7f:
		g.WriteString("\x41" + sleb(int64(int32(g.Uint32()>>g.IntN(32)))))
	case t == 0x7e:
		g.WriteString("\x42" + sleb(int64(g.Uint64()>>g.IntN(64))))
	default:
		g.WriteString("\x44" + string([]byte{0, 0, 0, 0, 0, byte(g.IntN(256)), byte(g.IntN(256)), 0x40}))
	}
}

// construct writes a block, a loop, an if or a try_table with a value.
func (g *generator) construct(t byte, depth int) {
	switch g.IntN(4) {
	case 0:
		g.open("\x02"+string(t), t)
		g.value(t, depth+1)
	case 1:
		g.open("\x03"+string(t), 0)
		g.budget()
		g.value(t, depth+1)
	case 2:
		g.value(0x7f, depth+1)
		g.open("\x04"+string(t), t)
		g.value(t, depth+1)
		g.WriteByte(0x05)
		g.value(t, depth+1)
	case 3: // tag 0 has a value of this type if it is i32
		if t != 0x7f || !g.throws {
			g.leaf(t)
			return
		}
		g.open("\x02"+string(t), t)
		g.open("\x1f"+string(t)+"\x01\x00\x00\x00", t)
		g.value(t, depth+1)
		if g.IntN(2) == 0 {
			g.value(0x7f, depth+1)
			g.WriteString("\x04\x40")
			g.labels = append(g.labels, 0)
			g.value(0x7f, depth+1)
			g.WriteString("\x08\x00")
			g.close()
		}
		g.close()
	}
	g.close()
}

func (g *generator) open(head string, label byte) {
	g.WriteString(head)
	g.labels = append(g.labels, label)
}

func (g *generator) close() {
	g.WriteByte(0x0b)
	g.labels = g.labels[:len(g.labels)-1]
}

// branch writes a branch to a label that takes a value of this type, or none.
func (g *generator) branch(t byte, depth int) {
	var fit []string
	for i, label := range g.labels {
		if label == t {
			fit = append(fit, leb(len(g.labels)-1-i))
		}
	}
	switch {
	case len(fit) == 0:
	case t != 0 && g.IntN(3) > 0 || g.IntN(2) == 0:
		g.value(0x7f, depth+1)
		g.WriteString("\x0d" + fit[g.IntN(len(fit))])
	default:
		g.value(0x7f, depth+1)
		g.WriteString("\x04\x40")
		g.labels = append(g.labels, 0)
		if t != 0 {
			g.leaf(t)
		}
		g.value(0x7f, depth+1)
		next := func() string { // labels are one deeper here
			for {
				i := g.IntN(len(g.labels))
				if g.labels[i] == t {
					return leb(len(g.labels) - 1 - i)
				}
			}
		}
		g.WriteString("\x0e" + list(next(), next()) + next())
		g.close()
	}
}

func (g *generator) load(t byte, depth int) {
	g.value(0x7f, depth+1)
	if g.IntN(4) > 0 {
		g.WriteString("\x41\xff\xff\x03\x71") // and 0xffff
	}
	g.WriteString(map[byte]string{0x7f: "\x28\x02", 0x7e: "\x29\x03", 0x7c: "\x2b\x03"}[t] + leb(g.IntN(100)))
}

// call calls a function, which returns an i32, directly or through the table.
func (g *generator) call(t byte, depth int) {
	if t != 0x7f {
		g.leaf(t)
		return
	}
	g.value(0x7f, depth+1)
	g.value(0x7e, depth+1)
	if g.IntN(3) > 0 {
		g.WriteString("\x10" + leb(g.IntN(g.functions)))
		return
	}
	g.value(0x7f, depth+1)
	g.WriteString("\x41\x03\x71\x11\x00\x00") // one of four in the table
}

func (g *generator) convert(t byte, depth int) {
	from := g.kind()
	g.value(from, depth+1)
	g.WriteString(map[string]string{
		"\x7f\x7f": "\x45", "\x7f\x7e": "\xa7", "\x7f\x7c": "\xaa", "\x7e\x7f": "\xac", "\x7e\x7e": "\x7a",
		"\x7e\x7c": "\xfc\x06", "\x7c\x7f": "\xb7", "\x7c\x7e": "\xb9", "\x7c\x7c": "\x99",
	}[string([]byte{t, from})])
}

func (g *generator) statement(depth int) {
	switch t := g.kind(); g.IntN(9) {
	case 0, 1, 2:
		g.value(t, depth+1)
		g.WriteString("\x21" + g.local(t))
	case 3:
		g.value(0x7f, depth+1)
		g.WriteString("\x41\xff\xff\x03\x71")
		g.value(t, depth+1)
		g.WriteString(map[byte]string{0x7f: "\x36\x02", 0x7e: "\x37\x03", 0x7c: "\x39\x03"}[t] + leb(g.IntN(100)))
	case 4: // a loop that turns while a value is not zero
		g.open("\x03\x40", 0)
		g.budget()
		g.statement(depth + 1)
		g.value(0x7f, depth+1)
		g.WriteString("\x0d\x00")
		g.close()
	case 5:
		g.open("\x02\x40", 0)
		g.branch(0, depth)
		g.statement(depth + 1)
		g.close()
	case 6: // memory.fill, memory.copy, memory.grow
		for range 3 {
			g.value(0x7f, depth+1)
			g.WriteString("\x41" + sleb(int64(1)<<(8+g.IntN(14))-1) + "\x71")
		}
		g.WriteString([]string{"\xfc\x0b\x00", "\xfc\x0a\x00\x00"}[g.IntN(2)])
	case 7:
		g.value(t, depth+1)
		g.WriteByte(0x1a)
	case 8:
		g.count()
	}
}

// count writes a loop in which little happens, and which counts up or down.
func (g *generator) count() {
	first := 1 + g.IntN(20)
	end := "\x41\x01\x6b\x22\x03\x0d\x00\x0b"
	switch g.IntN(3) {
	case 0:
		end = "\x41\x7f\x6a\x22\x03\x0d\x00\x0b"
	case 1:
		first *= 2
		end = "\x41\x02\x6a\x22\x03\x41\x2c\x47\x0d\x00\x0b"
	}
	g.WriteString("\x41" + leb(first) + "\x21\x03\x03\x40")
	g.leaf(0x7e)
	g.WriteString("\x21\x04")
	if g.IntN(2) == 0 {
		g.WriteString("\x20\x03\x41\x01\x71\x04\x40\x20\x04\xc4\x21\x05\x0b")
	}
	g.WriteString(strings.Repeat("\x01", 60*g.IntN(2)) + "\x20\x03" + end)
}

// budget takes one from global 0.
func (g *generator) budget() {
	g.WriteString("\x23\x00\x41\x01\x6b\x24\x00\x23\x00\x41\x00\x48\x04\x40\x00\x0b")
}

// straight writes code without control that leaves a value of the type.
func (g *generator) straight(t byte, depth int) {
	if depth > 3 || g.IntN(4) == 0 {
		g.leaf(t)
		return
	}
	g.straight(t, depth+1)
	g.straight(t, depth+1)
	g.WriteByte(operations[t][g.IntN(len(operations[t]))])
}

// random returns a module: functions f0 and so on, a memory of 16 pages, the budget. The first four
// are in the table. Only direct calls lead to the others, and the last two call at most each other.
func random(seed uint64, throws bool) []byte {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), functions: 7, throws: throws}
	// It bounds the depth of calls. A trap costs the interpreter the square of the depth,
	// and it has 2000 frames; with slices of 0 each call of a recursive function has two.
	budget := int64(longtest.Count(900, 300))
	var types, bodies []string
	for f := range g.functions {
		g.Reset()
		types = append(types, "\x00")
		if f >= 5 {
			g.straight(0x7f, 0)
			if f == 5 {
				g.straight(0x7e, 0)
				g.WriteString("\x10\x06")
			}
			bodies = append(bodies, body(list("\x02\x7f", "\x02\x7e", "\x02\x7c"), g.String()))
			continue
		}
		g.labels, g.size = []byte{0x7f}, 150
		g.budget()
		for range 5 {
			g.statement(0)
		}
		g.value(0x7f, 0)
		bodies = append(bodies, body(list("\x02\x7f", "\x02\x7e", "\x02\x7c"), g.String()))
	}
	return newModule().section(1, list("\x60\x02\x7f\x7e\x01\x7f", "\x60\x01\x7f\x00")).section(3, list(types...)).
		section(4, list("\x70\x00\x04")).section(5, list("\x01\x02\x10")).section(13, list("\x00\x01")).
		section(6, list("\x7f\x01\x41"+sleb(budget)+"\x0b")).
		section(7, list(text("f")+"\x00\x00", text("memory")+"\x02\x00", text("budget")+"\x03\x00")).
		section(9, list("\x00\x41\x00\x0b"+list("\x00", "\x01", "\x02", "\x03"))).section(10, list(bodies...))
}

// outcome is what a program does: its result or trap, its memory and its budget.
func outcome(m api.Module) string {
	results, err := m.ExportedFunction("f").Call(context.Background(), 5, 1<<40)
	first := ""
	if err != nil {
		first, _, _ = strings.Cut(err.Error(), "\n")
	}
	memory, _ := m.Memory().Read(0, m.Memory().Size())
	h := fnv.New64a()
	h.Write(memory)
	return fmt.Sprintf("%x %q %x %d", results, first, h.Sum64(), int32(m.ExportedGlobal("budget").Get()))
}

// TestRandom runs programs at random: metered, they do the same, and need the same fuel in small
// slices and large ones.
func TestRandom(t *testing.T) {
	ctx := context.Background()
	ends := map[bool]int{}
	for seed := range uint64(longtest.Count(400, 12)) {
		wasm := random(seed, true)
		engine := wazero.NewRuntimeConfigInterpreter() // it starts faster
		if seed%6 == 0 {
			engine = wazero.NewRuntimeConfigCompiler()
		}
		r := wazero.NewRuntimeWithConfig(ctx, engine.WithCoreFeatures(features))
		plain, err := r.Instantiate(ctx, wasm)
		if err != nil {
			t.Fatalf("seed %d: the generator is wrong: %v", seed, err)
		}
		want := outcome(plain)
		ends[strings.Contains(want, "error")]++
		r.Close(ctx)
		used := map[string]int64{}
		for _, mechanism := range mechanisms {
			for _, slice := range []int64{0, 300, 1 << 50} {
				g := startIn(t, engine, wasm, mechanism, slice)
				if got := outcome(g); got != want {
					t.Fatalf("seed %d, %v in slices of %d: %s; want %s", seed, mechanism, slice, got, want)
				}
				if mechanism == meter.Fuel && !strings.Contains(want, "error") {
					used[fmt.Sprint(slice)] = g.used()
				}
				g.close()
			}
		}
		if len(used) > 0 && (used["0"] != used["300"] || used["0"] < 0) {
			t.Fatalf("seed %d: the fuel used depends on the slices: %v", seed, used)
		}
	}
	t.Logf("%d programs return, %d trap", ends[false], ends[true])
}

// TestFuelIsExact compares the fuel of programs at random with that of the same programs in which
// each instruction is charged alone. An exception or a trap leaves code charged that does not run.
func TestFuelIsExact(t *testing.T) {
	engine := wazero.NewRuntimeConfigInterpreter()
	compared := 0
	for seed := range uint64(longtest.Count(800, 60)) {
		wasm := random(seed, false)
		g := startIn(t, engine, wasm, meter.Fuel, 1<<50)
		result := outcome(g)
		got := g.used()
		g.close()
		if strings.Contains(result, "error") {
			continue
		}
		each, err := meter.RewriteEach(wasm)
		if err != nil {
			continue // it is too large then
		}
		g = run(t, engine, each, 1<<50)
		outcome(g)
		compared++
		if want := g.used(); got != want {
			t.Fatalf("seed %d: %d used; want %d", seed, got, want)
		}
		g.close()
	}
	t.Logf("%d programs were compared", compared)
}
