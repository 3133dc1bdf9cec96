package meter_test

import (
	"bytes"
	"context"
	"debug/dwarf"
	"fmt"
	"io"
	"regexp"
	"slices"
	"testing"

	"github.com/cocoon-go/cocoon/guest/meter"
	"github.com/cocoon-go/cocoon/internal/longtest"
)

// aside is what differs in traces: offsets, and the meter's functions for bulk operations.
var aside = regexp.MustCompile(`0x[0-9a-f]+: |\t\.\$[0-9]+\(.*\n`)

// trace returns what a guest's function returns, or its trap with the lines of its source.
func trace(t *testing.T, m *guest, function string, args ...uint64) string {
	t.Helper()
	got, err := m.ExportedFunction(function).Call(context.Background(), args...)
	if err == nil {
		return fmt.Sprint(got)
	}
	return aside.ReplaceAllString(err.Error(), "")
}

// TestTraces: a trap of a metered guest names the same lines of the source. Small slices would
// show recursive functions twice.
func TestTraces(t *testing.T) {
	wasm := readTestdata(t, "traps.wasm")
	for _, engine := range engines {
		plain := run(t, engine, wasm, 0)
		for _, mechanism := range mechanisms {
			metered := startIn(t, engine, wasm, mechanism, 100)
			counter(metered).Set(1 << 40)
			for at := range uint64(12) {
				for _, c := range []struct {
					function string
					args     []uint64
				}{{"brief", []uint64{10, at}}, {"deep", []uint64{at % 3, at}}, {"copy", []uint64{1 << 20 * (at % 2), 8, 8 + 1<<20*at}}} {
					want, got := trace(t, plain, c.function, c.args...), trace(t, metered, c.function, c.args...)
					if got != want {
						t.Errorf("%v: %s%v: %s; want %s", mechanism, c.function, c.args, got, want)
					}
				}
			}
		}
	}
}

// TestDebugInfo: the metered module has the lines of the source for the same instructions.
func TestDebugInfo(t *testing.T) {
	wasm := readTestdata(t, "traps.wasm")
	want, code := debugInfo(t, wasm)
	for _, mechanism := range mechanisms {
		metered, err := meter.Rewrite(wasm, meter.Config{Mechanism: mechanism})
		if err != nil {
			t.Fatal(err)
		}
		got, meteredCode := debugInfo(t, metered)
		before, after := lines(t, want), lines(t, got)
		copied := 0
		for _, was := range before {
			for after[0].Line != was.Line || after[0].Column != was.Column || after[0].EndSequence != was.EndSequence {
				if after, copied = after[1:], copied+1; len(after) == 0 {
					t.Fatalf("%v: the row %+v is missing", mechanism, was)
				}
			}
			now := after[0]
			after = after[1:]
			if was.EndSequence || was.Column == 0 { // behind a function, and in front of its code
				continue
			}
			old, is := code[was.Address], meteredCode[now.Address]
			if replaced := old == 0x0b || old == 0xfc; old != is && !replaced {
				t.Errorf("%v: line %d is at %#x, where %#x stands; want %#x as at %#x",
					mechanism, was.Line, now.Address, is, old, was.Address)
			}
		}
		if copied += len(after); copied == 0 || copied > len(before) {
			t.Errorf("%v: %d rows are of copies of loops", mechanism, copied)
		}
		same(t, want, got, meteredCode)
	}
}

// lines returns all rows of the line program.
func lines(t *testing.T, d *dwarf.Data) (all []dwarf.LineEntry) {
	t.Helper()
	unit, err := d.Reader().Next()
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.LineReader(unit)
	if err != nil {
		t.Fatal(err)
	}
	for {
		var e dwarf.LineEntry
		switch err := r.Next(&e); {
		case err == io.EOF:
			return all
		case err != nil:
			t.Fatal(err)
		}
		all = append(all, e)
	}
}

// same checks that the entries are the same but for addresses, and that functions end
// where their code ends.
func same(t *testing.T, want, got *dwarf.Data, code []byte) {
	t.Helper()
	a, b := want.Reader(), got.Reader()
	for {
		was, err := a.Next()
		now, other := b.Next()
		if err != nil || other != nil {
			t.Fatal(err, other)
		}
		if was == nil {
			return
		}
		if now == nil || was.Tag != now.Tag || len(was.Field) != len(now.Field) || was.Val(dwarf.AttrName) != now.Val(dwarf.AttrName) {
			t.Fatalf("an entry is %v; want %v", now, was)
		}
		before, _ := want.Ranges(was)
		after, _ := got.Ranges(now)
		if len(before) != len(after) {
			t.Errorf("%v has %d ranges; want %d", was.Val(dwarf.AttrName), len(after), len(before))
		}
		for i, r := range after {
			if r[1] <= r[0] || was.Tag == dwarf.TagSubprogram && code[r[1]-1] != 0x0b {
				t.Errorf("%v has the range %#x, before %#x", was.Val(dwarf.AttrName), r, before[i])
			}
		}
	}
}

// debugParts returns the custom sections of a module, and where its first one starts.
func debugParts(wasm []byte) (parts map[string][]byte, code []byte, first int) {
	parts = map[string][]byte{}
	for at := 8; at < len(wasm); {
		id := wasm[at]
		size, n := uvarint(wasm[at+1:])
		content := wasm[at+1+n : at+1+n+size]
		switch id {
		case 10:
			code = content
		case 0:
			if first == 0 {
				first = at
			}
			size, n := uvarint(content)
			parts[string(content[n:n+size])] = content[n+size:]
		}
		at += 1 + n + size
	}
	return parts, code, first
}

// debugInfo parses the debug information of a module.
func debugInfo(t *testing.T, wasm []byte) (d *dwarf.Data, code []byte) {
	t.Helper()
	parts, code, _ := debugParts(wasm)
	d, err := dwarf.New(parts[".debug_abbrev"], nil, nil, parts[".debug_info"], parts[".debug_line"], nil, parts[".debug_ranges"], parts[".debug_str"])
	if err != nil {
		t.Fatal(err)
	}
	return d, code
}

func uvarint(b []byte) (v, n int) {
	for shift := 0; ; shift += 7 {
		v |= int(b[n]&0x7f) << shift
		if n++; b[n-1] < 0x80 {
			return v, n
		}
	}
}

// debugged are the sections that FuzzDebugInfo changes.
var debugged = [...]string{".debug_info", ".debug_abbrev", ".debug_line", ".debug_ranges", ".debug_loc"}

// FuzzDebugInfo gives the meter any debug information: it must neither panic nor take much memory,
// and the code stays the same.
func FuzzDebugInfo(f *testing.F) {
	wasm := readTestdata(f, "traps.wasm")
	parts, _, first := debugParts(wasm)
	add := func() {
		f.Add(parts[debugged[0]], parts[debugged[1]], parts[debugged[2]], parts[debugged[3]], parts[debugged[4]])
	}
	add()
	for _, name := range debugged {
		was := parts[name]
		for i := range was {
			if longtest.Off() && i%19 != 0 {
				continue
			}
			for _, b := range []byte{0, 1, 0x7f, 0xff, was[i] + 1} {
				parts[name] = slices.Clone(was)
				parts[name][i] = b
				add()
			}
		}
		parts[name] = was
	}
	bare := builder(wasm[:first:first])
	codes := map[meter.Mechanism][]byte{}
	for _, mechanism := range mechanisms {
		metered, err := meter.Rewrite(bare, meter.Config{Mechanism: mechanism})
		if err != nil {
			f.Fatal(err)
		}
		_, codes[mechanism], _ = debugParts(metered)
	}
	f.Fuzz(func(t *testing.T, info, abbreviations, lines, ranges, locations []byte) {
		b := slices.Clone(bare)
		for i, content := range [][]byte{info, abbreviations, lines, ranges, locations} {
			b = custom(b, debugged[i], string(content))
		}
		for _, mechanism := range mechanisms {
			metered, err := rewriteWithin(t, b, mechanism, 512<<10)
			if err != nil {
				t.Fatal(err)
			}
			if _, code, _ := debugParts(metered); !bytes.Equal(code, codes[mechanism]) {
				t.Fatalf("%v: the code depends on the debug information", mechanism)
			}
		}
	})
}
