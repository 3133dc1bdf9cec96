// Package meter rewrites WebAssembly modules, so that the code of a guest calls its host often: it
// puts safe points at the heads of loops, at entries of functions that call each other in a circle,
// and wherever else much might run without one. Everything else stays as it was.
//
// A safe point looks at a global of the guest, from which the guest subtracts what it costs. If the
// global is negative, the guest calls the imported function "cocoon" "safepoint", in which the host
// does what it likes: it lets another guest run, or unwinds the guest by a panic. Before it
// returns, it sets the global to 0 or more; a guest with a negative global calls it again and
// again. There are two mechanisms, see Mechanism.
//
// # What a metered module has in addition
//
//   - It imports "cocoon" "safepoint", a function without parameters and results. It stands after
//     the module's own imports, so that the indices of the module's functions are one higher.
//   - If its memory is shared, and its code waits there or notifies, it also imports "cocoon"
//     "wait" and "cocoon" "notify", and indices are three higher. Wait takes an address (i32), the
//     expected value (i64), the timeout (i64) and the size of the value in bytes (i32). Notify
//     takes an address and a count (i32). They return the results of memory.atomic.wait and
//     memory.atomic.notify. The metered module has checked that the address exists and is aligned.
//   - With fuel, and if functions of it call one another in a circle, it also imports "cocoon"
//     "back", after the others, and indices are one higher still. A function that has called the
//     host at its entry calls it when it returns. So the return from a deep recursion comes to safe
//     points, too. What runs there has been charged before: no slice of fuel should end there,
//     because these places depend on where slices began.
//   - It exports the global "cocoon:left" (epoch) or "cocoon:fuel" (fuel), an i64. It starts as 0,
//     so that the first safe point calls the host, maybe in the start function.
//   - It exports its shadow stack pointer as "cocoon:sp" if it has one: a mutable i32 global that
//     is called __stack_pointer by an export or by the name section. With it, a host gives each
//     thread of an instance a stack of its own.
//   - A custom section "cocoon:meter", by which Inspect and Rewrite know it.
//
// Debug information (DWARF 2 to 4) gets the new places of the code, so that traces have lines of
// the source. Other custom sections that refer to code by its place would lie, and are left out:
// DWARF 5, source maps, hints for branches and what a linker needs. The name section stays, with
// new indices and without the names of labels, so that traces have names of functions.
package meter
