// Package kernel has what the runtime asks of the kernel, and of Go's scheduler, for the whole
// process: the number of Ps, the time slices of threads, the processor time used, and the yield of
// a core.
//
// Several runtimes may live in a process, so the settings are counted: the last user restores them.
// All functions are safe for concurrent use.
package kernel
