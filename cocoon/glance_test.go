package cocoon

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestGlances steps through looks at a real file, whose times it sets.
func TestGlances(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	start := time.Now().Truncate(time.Second)
	var now time.Time
	write := func(at time.Duration, text string) {
		must(t, os.WriteFile(name, []byte(text), 0o600))
		must(t, os.Chtimes(name, start.Add(at), start.Add(at)))
	}
	g := glances{every: time.Second}
	begin := func(at time.Duration) {
		now = start.Add(at)
		g.begin(lookAt(name), now)
	}
	// look advances to the time of the next look, and tells what that must decide.
	look := func(what string, read bool, next time.Duration) {
		t.Helper()
		now = now.Add(g.next)
		if got := g.shouldRead(lookAt(name), now); got != read || g.next != next {
			t.Errorf("%s: read %v, next look after %v; want %v, %v", what, got, g.next, read, next)
		}
	}
	write(-time.Hour, "a")
	begin(0)
	look("an old file", false, time.Second)
	write(2*time.Second, "ab")
	look("it has changed", false, settleTime)
	look("it has settled", true, time.Second)
	look("it may have changed within its time", false, time.Second)
	look("and is read once more", true, time.Second)
	look("and no more", false, time.Second)

	must(t, os.Remove(name))
	look("it is gone", false, settleTime)
	look("it stays away", true, time.Second)
	look("nothing new", false, time.Second)

	write(-time.Hour, "abc")
	look("it is back", false, settleTime)
	must(t, os.Remove(name))
	look("it is gone again, as it was read", false, time.Second)

	for i := range 50 {
		write(time.Duration(i), "x")
		look("it changes all the time", false, settleTime)
	}
	write(60*time.Nanosecond, "x")
	look("long enough", true, time.Second)
}

// TestSameGlance: a file is another one when its identity, size, time or error differs.
func TestSameGlance(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	at := time.Now().Add(-time.Hour)
	for _, name := range []string{a, b} {
		must(t, os.WriteFile(name, []byte("x"), 0o600))
		must(t, os.Chtimes(name, at, at))
	}
	first := lookAt(a)
	if !first.same(lookAt(a)) {
		t.Error("an unchanged file has changed")
	}
	if first.same(lookAt(b)) {
		t.Error("another file is the same")
	}
	gone := lookAt(filepath.Join(dir, "c"))
	if first.same(gone) || gone.same(first) || !gone.same(lookAt(filepath.Join(dir, "c"))) {
		t.Error("a missing file")
	}
	if gone.same(glance{err: fs.ErrPermission.Error()}) {
		t.Error("a file that is missing and one that may not be read are the same")
	}
	must(t, os.Chtimes(a, at, at.Add(1)))
	if first.same(lookAt(a)) {
		t.Error("another time is the same")
	}
}
