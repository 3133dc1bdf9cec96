package instrument

import "testing"

// TestCallsNothing checks that a function does not poll for calls of packages that call none of
// the code in their arguments, and that it polls for other calls of these packages.
func TestCallsNothing(t *testing.T) {
	const src = `package p
import ("fmt"; "reflect"; "runtime"; "sync"; "unique")
func kind(v reflect.Value) bool { return v.Kind() == reflect.Int && v.Type().Elem().Len() > 3 }
func typeOf(v any) reflect.Type { return reflect.TypeOf(v) }
func put(p *sync.Pool, v any) { p.Put(v); runtime.KeepAlive(v) }
func load(m *sync.Map, k any) any { v, _ := m.Load(k); return v }
func handle(s any) unique.Handle[any] { return unique.Make(s) }
func call(v reflect.Value) []reflect.Value { return v.Call(nil) }
func get(p *sync.Pool) any { return p.Get() }
func visit(m *sync.Map, f func(k, v any) bool) { m.Range(f) }
func text(v any) string { return fmt.Sprint(v) }
`
	want := map[string]bool{"call": true, "get": true, "visit": true, "text": true}
	r := decidedText(t, src)
	for _, c := range r.codes {
		if polls := len(c.polls) > 0; polls != want[c.name] {
			t.Errorf("%s polls: %v; want %v", c.name, polls, want[c.name])
		}
	}
}

// TestPools checks that a function polls before it gets an item from a pool, unless the text shows
// which function makes the items, and this function may poll.
func TestPools(t *testing.T) {
	const src = `package p
import "sync"
type item struct{ of *sync.Pool }
var plain, other sync.Pool
var made = sync.Pool{New: func() any { return new(item) }}
var pointer = &sync.Pool{New: makeItem}
var later, lent sync.Pool
var Shared sync.Pool
var unknown = sync.Pool{New: newItem}
var all [2]sync.Pool
var silent = sync.Pool{New: makeSilent}
var newItem func() any
func makeItem() any { return new(item) }
//go:nosplit
func makeSilent() any { return newItem() }
func init() { later.New = newItem }
func getPlain() any { return plain.Get() }
func getMade() *item { return made.Get().(*item) }
func getPointer() any { return pointer.Get() }
func getLater() any { return later.Get() }
func getLent() any { return lent.Get() }
func lend() *item { return &item{&lent} }
func getShared() any { return Shared.Get() }
func getUnknown() any { return unknown.Get() }
func getOneOfAll() any { return all[1].Get() }
func getSilent() any { return silent.Get() }
func getLocal() any { var plain sync.Pool; plain.New = newItem; return plain.Get() }
`
	want := map[string]bool{"getLater": true, "getLent": true, "getShared": true, "getUnknown": true, "getOneOfAll": true, "getSilent": true, "getLocal": true}
	for _, c := range decidedText(t, src).codes {
		if polls := len(c.polls) > 0; polls != want[c.name] {
			t.Errorf("%s polls: %v; want %v", c.name, polls, want[c.name])
		}
	}
}
