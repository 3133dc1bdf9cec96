package instrument

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHowWhatIsHeldIsReleased checks which lock each line registers, and whether a throw would
// release it.
func TestHowWhatIsHeldIsReleased(t *testing.T) {
	const before = "package p\ntype L struct{}\nfunc (L) Lock() {}; func (L) Unlock() {}; func (L) RLock() {}; func (L) RUnlock() {}\ntype C struct{ mu, other L }\n"
	for _, c := range []struct{ name, body, want string }{
		{"by itself", "c.mu.Lock()\nf()\nc.mu.Unlock()\nf()", "[6 8 0] [c.mu] ends []"},
		{"by a deferred call", "c.mu.Lock()\ndefer c.mu.Unlock()\nf()\nf()", "[6 7 0 8 10 1] [c.mu c.mu] ends []"},
		{"by a deferred literal", "c.mu.Lock()\ndefer func() { f(); c.mu.Unlock() }()\nf()", "[6 7 0 8 9 1] [c.mu c.mu] ends [9 9]"},
		{"read only", "c.mu.RLock()\ndefer c.mu.RUnlock()\nf()", "[6 7 0 8 9 3] [c.mu c.mu] ends []"},
		{"two, by deferred calls", "c.mu.RLock()\ndefer c.mu.RUnlock()\nc.other.Lock()\ndefer c.other.Unlock()\nf()",
			"[6 7 0 8 9 0 10 11 1] [c.mu c.other c.mu, c.other] ends []"},
		{"given up behind its defer", "c.mu.Lock()\ndefer c.mu.Unlock()\nc.mu.Unlock()\nf()\nc.mu.Lock()\nf()", "[6 7 0 8 8 1 10 12 1] [c.mu c.mu c.mu] ends [8 10]"},
		{"a caller's, given up", "c.mu.Unlock()\nf()\nc.mu.Lock()\nf()", "[5 6 0 8 10 0] [c.mu c.mu] ends [6 8]"},
		{"a caller's, released", "c.mu.Unlock()\nf()", "[5 6 0] [c.mu] ends []"},
		{"released by another function", "c.mu.Lock()\ndefer c.mu.Unlock()\nc.pause()\nf()\nc.mu.Lock()", "[6 8 0 10 11 0] [c.mu c.mu] ends [8 10]"},
		{"released by a deferred call of another function", "c.mu.Lock()\ndefer c.pause()\nf()", "[6 7 0 8 9 1] [c.mu c.mu] ends []"},
		{"in a literal", "c.mu.Lock()\ndefer c.mu.Unlock()\nfunc() {\nf()\n}()", "[6 7 0 8 11 1] [c.mu c.mu] ends []"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.go")
			if err := os.WriteFile(path, []byte(before+"func a(c *C, f func()) {\n"+c.body+"\n}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			other := filepath.Join(filepath.Dir(path), "b.go")
			if err := os.WriteFile(other, []byte("package p\nfunc (c *C) pause() { c.mu.Unlock() }\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := decided(Package{Path: "p", Files: []string{path, other}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			told := r.toldLines()["a.go"]
			lines, locks := told.stretches()
			if got := fmt.Sprintf("%v [%s] ends %v", lines, strings.Join(locks, " "), merged(told.ends)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestPackageWithoutPollsTellsItsLines checks that a package without a poll of its own registers
// its lines too, because its callees may poll.
func TestPackageWithoutPollsTellsItsLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(path, []byte("package p\nfunc a(l interface{ Lock(); Unlock() }) {\n\tl.Lock()\n\tl.Unlock()\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	res, err := Rewrite(Package{Path: "p", Files: []string{path}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if link := string(res.Files[filepath.Join(filepath.Dir(path), "zz_cocoon.go")]); !strings.Contains(link, `cocoon_hold("p", "a.go", []int{3, 4, 0}, []string{"l"}, []int(nil), []int(nil))`) {
		t.Errorf("it has\n%s", link)
	}
}

// TestPackageWithPredeclaredNames checks that a package that declares a name that the polls need
// gets no file, which the compiler would refuse, even if it has lines to register.
func TestPackageWithPredeclaredNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(path, []byte("package p\ntype string int8\nfunc a(l interface{ Lock(); Unlock() }) {\n\tl.Lock()\n\tl.Unlock()\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	res, err := Rewrite(Package{Path: "p", Files: []string{path}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range res.Files {
		t.Errorf("it gets %s:\n%s", path, text)
	}
}

// TestHeldBehindALineDirective checks that a lock is still held after a line directive, in the file
// that the directive names.
func TestHeldBehindALineDirective(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.go")
	const src = "package p\nfunc a(l interface{ Lock(); Unlock() }, f func()) {\n\tl.Lock()\n//line y.y:20\n\tf()\n\tf()\n//line a.go:7\n\tl.Unlock()\n}\n"
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := decided(Package{Path: "p", Files: []string{path}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := r.toldLines()
	a, _ := lines["a.go"].stretches()
	y, _ := lines["y.y"].stretches()
	if got := fmt.Sprint(a, y); got != "[3 4 0 7 7 0] [20 22 0]" {
		t.Errorf("got %s", got)
	}
}
