package cocoon

import (
	"io/fs"
	"os"
	"time"
)

// glance is what one look at a file's metadata has found.
type glance struct {
	info fs.FileInfo
	err  string // why there is no info
}

func lookAt(path string) glance {
	info, err := os.Stat(path)
	if err != nil {
		return glance{err: err.Error()}
	}
	return glance{info: info}
}

// same reports whether nothing suggests that the file has changed between g and h.
func (g glance) same(h glance) bool {
	if g.info == nil || h.info == nil {
		return g.info == h.info && g.err == h.err
	}
	return os.SameFile(g.info, h.info) && g.info.Size() == h.info.Size() && g.info.ModTime().Equal(h.info.ModTime())
}

const (
	settleTime   = 100 * time.Millisecond // for which a changed file must stay as it is
	settleAtMost = 5 * time.Second        // from the first change on
	clockOfFiles = 2 * time.Second        // resolution of the coarsest file system's times
)

// glances decides from a sequence of looks at a file when to read it. It is a pure state machine: a
// scenario test steps through it.
type glances struct {
	every time.Duration // between looks at a file that does not change
	read  glance        // as of the last time that shouldRead said so
	last  glance        // of the latest look
	since time.Time     // the first look that found the file changed; zero: it has not
	doubt bool          // the file may have changed after the last look, and kept its time
	next  time.Duration // until the next look
}

// begin begins with a file that has been read just after that look.
func (g *glances) begin(l glance, now time.Time) {
	g.last, g.next = l, g.every
	g.reads(l, now)
	g.settle()
}

// shouldRead tells g what a look has found, and reports whether to read the file now.
func (g *glances) shouldRead(l glance, now time.Time) bool {
	changed := !l.same(g.last)
	g.last, g.next = l, g.every
	switch {
	case l.same(g.read):
		g.since = time.Time{}
		if g.doubt && !young(l, now) {
			g.doubt = false
			return true
		}
		g.settle()
		return false
	case g.since.IsZero():
		g.since, g.next = now, settleTime
		return false
	case changed && now.Sub(g.since) < settleAtMost:
		g.next = settleTime
		return false
	}
	g.reads(l, now)
	g.settle()
	return true
}

// settle schedules the next look soon after the last moment at which the file may have changed
// unseen.
func (g *glances) settle() {
	if g.doubt {
		g.next = min(g.next, clockOfFiles)
	}
}

// reads records that the file is read after the look l.
func (g *glances) reads(l glance, now time.Time) {
	g.read, g.since, g.doubt = l, time.Time{}, young(l, now)
}

// young reports whether the file may change once more without getting another time.
func young(l glance, now time.Time) bool {
	return l.info != nil && now.Sub(l.info.ModTime()) < clockOfFiles
}
