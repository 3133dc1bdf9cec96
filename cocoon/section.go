package cocoon

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// Section runs fn as a named part of the task that ctx belongs to, on the same goroutine. Policies
// see the open sections and their running time. A throw made while a section is open ends at the
// boundary of the innermost section: Section returns the *PreemptedError, and the task goes on.
// Cancel, Shutdown and a throw made outside any section pass through to the end of the task. A
// throw into a section that has already ended is void.
//
// Sections nest; policies see the outermost 16. Without a task in ctx, or on a goroutine other than
// the task's, Section only calls fn. A throw into the section does not end the task's context. Use
// SectionContext for code that waits with a context. Cost: about 0.1 µs (BenchmarkCosts).
func Section[T any](ctx context.Context, name string, fn func() (T, error)) (result T, err error) {
	s := strandOf(ctx)
	if s == nil {
		return fn()
	}
	id, depth := s.openSection(name)
	returned := false
	defer s.leaveSection(id, depth, &returned, &err)
	result, err = fn()
	returned = true
	return result, err
}

// SectionContext is Section for code that waits. fn gets a context of the section's own, derived
// from ctx. It ends with the section, or earlier if a throw into the section finds no safe point
// because fn waits or does not poll. The task's context goes on. Cost: about 0.3 µs
// (BenchmarkCosts) in addition to the cost of context.WithCancelCause.
func SectionContext[T any](ctx context.Context, name string, fn func(ctx context.Context) (T, error)) (result T, err error) {
	s := strandOf(ctx)
	if s == nil {
		return fn(ctx)
	}
	inner, own := s.ownContext(ctx)
	id, depth := s.openSection(name)
	s.sections.own(id, own)
	returned := false
	defer s.sections.disown(own, &err)
	defer s.leaveSection(id, depth, &returned, &err)
	result, err = fn(inner)
	returned = true
	return result, err
}

// openSection opens a section of the task. Called by the task's goroutine.
func (s *strand) openSection(name string) (id uint64, depth int32) {
	if s.lent.Load() {
		s.loop.lock()
		s.meet(notify.Now()) // its running time stood still while it waited
		s.loop.unlock()
	}
	return s.sections.push(s.loop.rt.meets(name), s.running(notify.Now()))
}

// leaveSection is the boundary of the section.
func (s *strand) leaveSection(id uint64, depth int32, returned *bool, err *error) {
	s.sections.cut(depth)
	if s.requests.Load()&wantThrow == 0 {
		return
	}
	if *returned {
		s.returns(id, err)
		return
	}
	if s.throwing == nil && inside.Abort != nil {
		if p := s.dueFor(id); p != nil {
			// a call returned the throw before a safe point threw it
			if r := recover(); r == any(inside.Abort) {
				*err = p
				s.voidThrow(id)
			} else if r != nil {
				panic(r)
			}
		}
		return
	}
	if s.throwing == nil || s.throwing.section == 0 {
		return // a panic of the task's own, or a throw that ends the task
	}
	if r := recover(); r != nil { // nil: Goexit
		*err = s.arrived(r)
		s.settle()
	}
}

// arrived returns the error of the throw in flight, which has reached its boundary as the panic r.
// If r is not the throw's own value, the task's code has replaced it. Passing r on would end the
// program because of a policy's decision, so arrived records r instead. Two values say nothing new:
// bytes.Buffer replaces every panic while it grows, and a handler whose read or write returned the
// throw may abort.
func (s *strand) arrived(r any) *PreemptedError {
	err := s.throwing.err
	if r != err && r != inside.Abort && !(r == bytes.ErrTooLarge && err.hasPassed("bytes.growSlice")) {
		p := &PanicError{Value: r, Stack: debug.Stack(), text: fmt.Sprint(r)}
		err.became.Store(p)
		s.loop.rt.log.add(slog.LevelWarn, "cocoon: the task's code turned a throw into another panic", "task", err.Task, "policy", err.Policy,
			"panic", p.text, "stack", string(p.Stack))
	}
	return err
}

// settle ends a throw that has reached its boundary. A throw that ends the task may have replaced
// it on the way.
func (s *strand) settle() {
	s.loop.lock()
	if s.pending == s.throwing {
		s.dismiss()
	}
	s.loop.unlock()
	s.landed()
}

// dueFor returns the pending throw into the section, or nil.
func (s *strand) dueFor(id uint64) *PreemptedError {
	s.loop.lock()
	defer s.loop.unlock()
	if s.pending == nil || s.pending.section != id {
		return nil
	}
	return s.pending.err
}

// voidThrow discards a throw into the section, which has ended by itself.
func (s *strand) voidThrow(id uint64) {
	s.loop.lock()
	defer s.loop.unlock()
	if s.pending != nil && s.pending.section == id {
		s.landed()
		s.dismiss()
		s.loop.stats.void.Add(1)
	}
}

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
		o.name.Store(name)
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

// seenSection is a section as policies see it.
type seenSection struct {
	name  *named
	start int64
	id    uint64
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
