package guest

import "fmt"

// stacks are the stacks in a guest's linear memory, on which compilers put what WebAssembly's own
// stack cannot hold. The guest has one. A thread that begins while another one uses it gets a stack
// from the host. A call nested in another call of the instance continues on the same stack.
type stacks struct {
	base  uint64 // the guest's own stack pointer, as the last call on that stack has left it
	taken bool   // the guest's own is in use
	free  []uint64
}

// stack is the stack that was found for a call.
type stack struct {
	pointer uint64 // at its start
	own     bool   // it is the guest's
}

// put gives the stack of a call back, which has left its pointer at end. Called under the
// instance's lock.
func (s *stacks) put(k stack, end uint64) {
	switch {
	case k.own:
		s.taken, s.base = false, end
	case k.pointer != 0:
		s.free = append(s.free, k.pointer)
	}
}

// putStack gives the stack of a call back, if it has one. Called under the lock.
func (in *Instance) putStack(a *activation) {
	in.stacks.put(a.stack, a.sp)
	a.stack = stack{}
}

// take finds a stack without allocating one. Called under the instance's lock.
func (s *stacks) take() (k stack, ok bool) {
	if !s.taken {
		s.taken = true
		return stack{pointer: s.base, own: true}, true
	}
	if n := len(s.free); n > 0 {
		k.pointer, s.free = s.free[n-1], s.free[:n-1]
		return k, true
	}
	return k, false
}

// place puts the call on a stack. The call has the turn.
func (a *activation) place() error {
	in := a.in
	if !in.separate() {
		return in.alone(a)
	}
	if below := a.outer.within(in); below != nil {
		a.sp = below.sp
		in.sp.Set(a.sp)
		return nil
	}
	in.lock()
	k, ok := in.stacks.take()
	in.unlock()
	if !ok {
		pages := (in.module.config.StackSize + wasmPage - 1) / wasmPage
		was, grown := in.api.Memory().Grow(pages)
		if !grown {
			return fmt.Errorf("%s: the memory cannot grow by %d pages, for the stack of another thread; its size is %d bytes",
				about(in.module.config.Name), pages, in.api.Memory().Size())
		}
		k.pointer = (uint64(was) + uint64(pages)) * wasmPage
	}
	a.stack, a.sp = k, k.pointer
	in.sp.Set(a.sp)
	return nil
}

// separate reports whether threads have stacks of their own.
func (in *Instance) separate() bool { return in.sp != nil && in.module.config.Threads }

// mustBeAlone reports whether a thread may run only while no other thread is half-way.
func (in *Instance) mustBeAlone() bool {
	return in.module.config.Threads && in.sp == nil && in.module.info.Private != 0
}

// alone refuses a thread if the stack pointer of the guest is not known, while another thread is
// half-way: they might share one stack.
func (in *Instance) alone(a *activation) error {
	if !in.mustBeAlone() {
		return nil
	}
	in.lock()
	defer in.unlock()
	for _, other := range in.live {
		if other != a && other.began && !other.gone && !a.inside(in) {
			return fmt.Errorf("%s: another thread needs a stack of its own, and one of the guest's %d private globals may be "+
				"its stack pointer; export it as __stack_pointer, or set Config.Threads to false", about(in.module.config.Name), in.module.info.Private)
		}
	}
	a.began = true
	return nil
}
