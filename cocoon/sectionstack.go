package cocoon

import (
	"context"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/stubs"
)

// sectionStack holds a task's open sections. The task's goroutine writes it. Policies read it
// concurrently, under a sequence lock: change is odd during a write.
type sectionStack struct {
	change atomic.Uint64
	last   uint64 // id of the section opened last; owned by the task's goroutine
	// owned is the context of the innermost section that has its own; written by the task's
	// goroutine.
	owned atomic.Pointer[sectionContext]
	depth atomic.Int32
	// open is made with the first section: most tasks have none, and a server has many tasks.
	open atomic.Pointer[[stubs.MaxStack]openSection]
}

type openSection struct {
	name  atomic.Pointer[named]
	start atomic.Int64 // the task's running time when the section was opened
	id    atomic.Uint64

	inserted bool // by cocoon build; owned by the task's goroutine
}

// seenSection is a section as policies see it.
type seenSection struct {
	name  *named
	start int64
	id    uint64
}

// sectionContext ends the context of a section that has its own. It is immutable once other
// goroutines can see it.
type sectionContext struct {
	id     uint64
	outer  context.Context // the parent of inner
	inner  context.Context
	cancel context.CancelCauseFunc
	up     *sectionContext // of the next outer section that has one
}

// named reports whether a section of the name is open. Called by the task's goroutine.
func (st *sectionStack) named(name string) bool {
	for i := range min(int(st.depth.Load()), stubs.MaxStack) {
		if st.open.Load()[i].name.Load().text == name {
			return true
		}
	}
	return false
}

// again returns the name if the section that was opened last at the present depth has it, too: code
// that opens sections in a loop needs no search for their names. It returns nil for a name that the
// runtime does not keep, which is counted at each use.
func (st *sectionStack) again(name string) *named {
	open, depth := st.open.Load(), st.depth.Load()
	if open == nil || depth >= stubs.MaxStack {
		return nil
	}
	if was := open[depth].name.Load(); was != nil && was.kept && was.text == name {
		return was
	}
	return nil
}

// push opens a section. cut, called with the depth that push returns, closes it. The id is never 0,
// and no other section of the strand has it, in any task, so a request for one section never
// reaches another. Ids unique in the process would need a word that all cores write.
func (st *sectionStack) push(name *named, running int64) (id uint64, depth int32) {
	st.last++
	id, depth = st.last, st.depth.Load()
	open := st.open.Load()
	if open == nil {
		open = new([stubs.MaxStack]openSection)
		st.open.Store(open)
	}
	st.change.Add(1)
	if depth < stubs.MaxStack {
		o := &open[depth]
		if o.name.Load() != name {
			o.name.Store(name)
		}
		o.start.Store(running)
		o.id.Store(id)
		o.inserted = false
	}
	st.depth.Store(depth + 1)
	st.change.Add(1)
	return id, depth
}

// cut closes the sections from depth on.
func (st *sectionStack) cut(depth int32) {
	if st.depth.Load() == depth {
		return
	}
	st.change.Add(1)
	st.depth.Store(depth)
	st.change.Add(1)
}

// has reports whether the section is open. Called by the task's goroutine.
func (st *sectionStack) has(id uint64) bool {
	for i := range min(int(st.depth.Load()), stubs.MaxStack) {
		if st.open.Load()[i].id.Load() == id {
			return true
		}
	}
	return false
}

// read copies the open sections to buf, outermost first. If the task keeps changing them, read
// returns none; the policies are evaluated again at the next tick.
func (st *sectionStack) read(buf *[stubs.MaxStack]seenSection) []seenSection {
	for range 4 {
		before := st.change.Load()
		n := min(int(st.depth.Load()), stubs.MaxStack)
		for i := range n {
			o := &st.open.Load()[i]
			buf[i] = seenSection{o.name.Load(), o.start.Load(), o.id.Load()}
		}
		if before%2 == 0 && st.change.Load() == before {
			return buf[:n]
		}
	}
	return nil
}
