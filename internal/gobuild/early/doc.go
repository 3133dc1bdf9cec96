// Package early replaces this process by a tool of the go command, before the other packages of the
// program initialise.
//
// The go command starts this program for each of its tools, and most of them only have to run: the
// linker, the assembler, and each tool that says its version. In a build with nothing to do, the
// initialisation of the other packages took more time than all else here. Go initialises the
// package with the first import path among those whose imports are ready. So this package imports
// little.
package early
