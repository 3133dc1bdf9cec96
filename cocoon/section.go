package cocoon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/notify"
)

// Section runs fn as a named part of the task that ctx belongs to, on the same goroutine. Policies
// see the open sections and their running time. A throw made while a section is open ends at the
// boundary of the innermost section: Section returns the *PreemptedError, and the task continues.
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
// because fn waits or does not poll. If fn then returns an error, SectionContext returns the throw,
// see PreemptedError.Returned. The task's context stays valid. Cost: about 0.3 µs (BenchmarkCosts)
// in addition to the cost of context.WithCancelCause.
func SectionContext[T any](ctx context.Context, name string, fn func(ctx context.Context) (T, error)) (result T, err error) {
	s := strandOf(ctx)
	if s == nil {
		return fn(ctx)
	}
	inner, own := s.ownContext(ctx)
	id, depth := s.openSection(name)
	s.sections.own(id, own)
	returned := false
	defer s.disown(own, &err)
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
	met := s.sections.again(name)
	if met == nil {
		met = s.loop.rt.meets(name)
	}
	return s.sections.push(met, s.running(notify.Now()))
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
				s.showThrow(s.task, p)
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

// ownContext makes a context for a section before the section is open, because methods of ctx are
// called, and may panic.
func (s *strand) ownContext(ctx context.Context) (context.Context, *sectionContext) {
	inner, cancel := context.WithCancelCause(ctx)
	task, attrs := scopeOf(ctx)
	return &attrContext{inner, task, attrs}, &sectionContext{outer: ctx, inner: inner, cancel: cancel}
}

// returns ends a throw that was made for the section, which returns by itself. If it was swallowed,
// the section's error is the throw.
func (s *strand) returns(id uint64, err *error) {
	if p := s.throwing; p != nil && p.section == id && *err != nil {
		defer s.deafen()()
		*err = p.err.over(*err)
		s.settle()
		return
	}
	s.voidThrow(id)
}

// disown ends the context of a section that has ended. If a throw into the section has ended it
// before, and the section failed, the section's error is the throw.
func (s *strand) disown(c *sectionContext, err *error) {
	s.sections.owned.Store(c.up)
	p, thrown := context.Cause(c.inner).(*PreemptedError)
	if thrown {
		defer s.deafen()()
	}
	if thrown && *err != nil && c.outer.Err() == nil && !errors.Is(*err, p) {
		*err = p.endedFor(*err)
		s.showThrow(s.task, p)
	}
	var cause error
	if thrown, ok := (*err).(*PreemptedError); ok {
		cause = thrown
	}
	c.cancel(cause)
}
