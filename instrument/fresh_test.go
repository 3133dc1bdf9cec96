package instrument

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// machines is code with a method that locks its receiver, in lines 5 to 7.
const machines = `package p
type L struct{}
func (*L) Lock() {}; func (*L) Unlock() {}
type Machine struct{ mu L; shared *L; n int }
func (m *Machine) Run(f func()) { m.mu.Lock()
defer m.mu.Unlock()
f() }
func (m *Machine) RunShared(f func()) { m.shared.Lock()
defer m.shared.Unlock()
f() }
func (m *Machine) Keep() { known = m }
func (m *Machine) Step() { m.n++; m.again() }
func (m *Machine) again() { if m.n > 3 { m.Step() } }
func (m *Machine) Start() { go func() { m.n++ }() }
var known *Machine
func compile(n int) (*Machine, error) { if n > 3 { return nil, nil }; return &Machine{n: n}, nil }
func compileBetter() *Machine { m := &Machine{}; m.n = 3; return m }
func cached() *Machine { return known }
func sometimes(n int) *Machine { if n > 3 { return known }; return &Machine{} }
func use(m *Machine) {}
`

// TestCallsOnWhatOnlyTheFunctionHas checks that a line is registered if a function calls a method
// there that locks its receiver, and the function has not shared the receiver.
func TestCallsOnWhatOnlyTheFunctionHas(t *testing.T) {
	const before = machines + `func a(n int, f func(), given *Machine, ch chan *Machine) (m *Machine, err error) {
`
	for _, c := range []struct {
		name, body string
		fresh      bool
	}{
		{"a literal", "m = &Machine{}", true},
		{"new", "m = new(Machine)", true},
		{"compiled", "m, err = compile(n); if err != nil || m == nil { return nil, err }; m.n++; m.Step()", true},
		{"compiled by another", "m = compileBetter()", true},
		{"one of two", "m, err = compileBetter(), nil", true},
		{"cached", "m = cached()", false},
		{"cached sometimes", "m = sometimes(n)", false},
		{"given", "m = given", false},
		{"made, then given", "m = &Machine{}; if n > 3 { m = given }", false},
		{"stored", "m = &Machine{}; known = m", false},
		{"stored by a method", "m = &Machine{}; m.Keep()", false},
		{"passed", "m = &Machine{}; use(m)", false},
		{"sent", "m = &Machine{}; ch <- m", false},
		{"in a literal", "m = &Machine{}; f = func() { m.n++ }", false},
		{"in a goroutine of a method", "m = &Machine{}; m.Start()", false},
		{"part of it", "m = &Machine{}; p := &m.n; *p = 3", false},
		{"of a loop", "for m = range ch {}", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.go")
			if err := os.WriteFile(path, []byte(before+c.body+"\nm.Run(f)\nm.RunShared(f)\nreturn m, err }\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := decided(Package{Path: "p", Files: []string{path}}, Options{})
			if err != nil || r.mistaken {
				t.Fatal(err, r.mistaken)
			}
			told := r.toldLines()["a.go"]
			want := "[]"
			if c.fresh {
				want = "[23 23]"
			}
			if got := fmt.Sprint(merged(told.fresh)); got != want {
				t.Errorf("told %s, want %s", got, want)
			}
			if h := told.held[7]; h.released != inReceiver || told.held[10].released != byDefer {
				t.Errorf("held: %v and %v", h, told.held[10])
			}
		})
	}
}

// TestCallsOnWhatOnlyTheLiteralHas is the same for a variable that a literal declares.
func TestCallsOnWhatOnlyTheLiteralHas(t *testing.T) {
	r := decidedText(t, machines+"func b(f func()) { g := func() {\nvar m Machine\nm.Run(f)\n}; g() }\n"+
		"func c(f func()) { var m Machine; g := func() {\nm.Run(f)\n}; g() }\n")
	if got, want := fmt.Sprint(merged(r.toldLines()["a.go"].fresh)), "[23 23]"; got != want {
		t.Errorf("told %s, want %s", got, want)
	}
}
