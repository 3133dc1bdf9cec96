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
	r := decidedText(t, src, "fmt", "reflect", "runtime", "sync", "unique")
	for _, c := range r.codes {
		if polls := len(c.polls) > 0; polls != want[c.name] {
			t.Errorf("%s polls: %v; want %v", c.name, polls, want[c.name])
		}
	}
}
