// Package guest runs WebAssembly guests as preemptible tasks of Cocoon, on wazero.
//
// Compile gives a guest safe points (package meter): the guest calls the host after a bounded
// amount of work, about every 25 µs. So policies suspend, resume, throw into and account for guests
// as for any other task, a guest that never returns does not hold up the garbage collector, and
// the guest's code needs no change.
//
//	m, err := guest.Compile(ctx, wasm, guest.Config{})
//	in, err := m.Instantiate(ctx, nil)
//	results, err := in.Call(ctx, "handle", 42)  // in the caller's task
//	thread := in.Spawn(ctx, "work")             // a task of its own
//	_, err = thread.Wait(ctx)
//
// # Threads
//
// Spawn runs a call as a new task. Call runs one in its caller's task, as a section of it; outside
// of any task, Call makes a task. The calls of one instance share its memory, so they run one after
// the other. With Config.Threads they take turns: a call lets the next one run at a safe point when
// its slice is over, when it is suspended, and in Block. Each thread has its own stack in linear
// memory, if the guest has one there (see meter.StackExport). Calls of different instances run in
// parallel, on the loop's slots. The order of calls that wait for a slot is the loop's, by its
// ranks. The order of calls of one instance that wait for their turn is the order of their arrival,
// so use a loop with one slot where ranks must order the threads of an instance.
//
// # How a guest is suspended
//
// A guest counts its work down (package meter) and calls atSafePoint when the counter is used up.
// atSafePoint finds the call's activation, whose look method charges the work. If a policy has
// asked for the task, look gives up the instance's turn and calls cocoon.SafePoint, where the task
// is suspended or thrown into like any other.
//
// # The paper
//
// This is the system of Yang and Muxlow, "Prototype Preemptive Threading in Wasmtime":
// spawn_wasm_thread is Spawn, run_wasm_threads_for is RunFor, shutdown_wasm_threads is Shutdown,
// and preemptive_yield is what happens at a safe point. docs/guests.md compares the two.
//
// # Host functions
//
// A host function of wazero gets a context that leads to the call's task: cocoon.Block gives the
// slot back while it waits, and Block of this package lets other threads of the instance run in
// addition, with Config.Threads. A host function may call guests. A throw unwinds host functions
// with their deferred calls.
package guest
