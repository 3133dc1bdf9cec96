// Package guest runs WebAssembly guests as preemptible tasks of Cocoon, on wazero.
//
// Compile gives a guest safe points (package meter): the guest calls the host after a bounded
// amount of work, about every 25 µs. So policies suspend, resume, throw into and account for guests
// like any other task, and a guest that never returns does not hold up the garbage collector. The
// source of the guest needs no change.
//
//	m, err := guest.Compile(ctx, wasm, guest.Config{})
//	in, err := m.Instantiate(ctx, nil)
//	results, err := in.Call(ctx, "handle", 42)  // in the caller's task
//	thread := in.Spawn(ctx, "work")             // a task of its own
//	_, err = thread.Wait(ctx)
//
// # Threads
//
// Spawn runs a call as a new task. Call runs a call as a section of its caller's task, or as a new
// task if the caller runs outside any task. The calls of one instance share its memory, so they run
// one after the other. With Config.Threads they take turns: a call lets the next one run at a safe
// point when its slice is over, when it is suspended, and in Block. Each thread has its own stack
// in linear memory, if the guest has one there (see meter.StackExport). Calls of different
// instances run in parallel, on the loop's slots. Calls that wait for a slot get one in the order
// of their ranks. Calls that wait for the turn of one instance get it in the order of their
// arrival, so use a loop with one slot where ranks must order the threads of an instance.
//
// # How a guest is suspended
//
// A guest counts its work down (package meter) and calls atSafePoint when the counter is used up.
// atSafePoint finds the call's activation, whose look method charges the work. If the task has a
// pending request, look gives up the instance's turn and calls cocoon.SafePoint, where the task is
// suspended or thrown into like any other task.
//
// # Fuel
//
// With the mechanism Fuel the counter is fuel. look adds the used fuel to the thread's account, and
// raises FuelEvent each time the thread has used Config.FuelSlice: policies on this event are
// evaluated then. A thread that has used up Config.Budget ends with a *FuelError.
//
// # The paper
//
// This is the system of Yang and Muxlow, "Prototype Preemptive Threading in Wasmtime":
// spawn_wasm_thread is Spawn, run_wasm_threads_for is RunFor, shutdown_wasm_threads is Shutdown,
// and preemptive_yield is the call of the host at a safe point. docs/guests.md compares the two.
//
// # Host functions
//
// A host function of wazero gets the context of the call's task. cocoon.Block gives the slot back
// while the host function waits. With Config.Threads, Block of this package also lets other threads
// of the instance run. A host function may call guests. A throw unwinds host functions with their
// deferred calls.
package guest
