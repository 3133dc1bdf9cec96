package instrument

import (
	"slices"
	"testing"
)

func TestSections(t *testing.T) {
	const src = `package p
func a() error { return nil }
func (t *T[A, B]) b(n int) (int, error) { return n, nil }
func (T[A, B]) c() (n int, err error) { return }
func d() (n int, _ error) { return 0, nil }
func e() (a, b error) { return }
func none() {}
func number() (error, int) { return nil, 0 }
type T[A, B any] struct{}
`
	const want = `package p
func a() (cocoon_error error) {defer cocoon_section("p.a")(&cocoon_error); return nil }
func (t *T[A, B]) b(n int) (_ int, cocoon_error error) {defer cocoon_section("p.(*T).b")(&cocoon_error); return n, nil }
func (T[A, B]) c() (n int, err error) {defer cocoon_section("p.T.c")(&err); return }
func d() (n int, cocoon_error error) {defer cocoon_section("p.d")(&cocoon_error); return 0, nil }
func e() (a, b error) {defer cocoon_section("p.e")(&b); return }
func none() {defer cocoon_section("p.none")(nil);}
func number() (error, int) {defer cocoon_section("p.number")(nil); return nil, 0 }
type T[A, B any] struct{}
`
	names := []string{"p.a", "p.(*T).b", "p.T.c", "p.d", "p.e", "p.none", "p.number"}
	o := Options{Sections: map[string]bool{"p.absent": true, "q.a": true}}
	for _, n := range names {
		o.Sections[n] = true
	}
	got, stats := rewriteText(t, src, o)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !slices.Equal(stats.Sections, names) {
		t.Errorf("sections %q", stats.Sections)
	}
}
