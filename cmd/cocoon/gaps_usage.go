package main

const gapsUsage = `usage: cocoon gaps [-n COUNT] [-deps] [-json] [arguments of cocoon build]
       cocoon gaps -keeps [-n COUNT] [-deps] [-json] [arguments of cocoon build]
       cocoon gaps -run [-n COUNT] [-json] [arguments of cocoon run]

It prints the longest stretch without a safe point in each function of a program that cocoon build makes, with its upper
bound and the reason. It builds nothing but export data. Each line is a function. Functions that tasks reach come first: by
calls, from the functions that the program passes to Cocoon. Among them the longest stretches come first, and equally long
ones by the number of calls. Functions that only initialise packages are left out.

  unbounded  server.go:41  (*server).load  call: calls os.ReadFile, not instrumented: os is not among -cocoon.pkgs

With -keeps it prints the code that a throw does not unwind, with the reasons: the rules of -cocoon.keep, of policy documents
and of the list of libraries that match packages of the program, and the places where the text shows that a value is
published before it is complete, a resource will be released by a deferred call, or goroutines work that the function waits
for.

With -run it runs the program as cocoon run does, and then prints the gaps of its tasks. The runtime requests a safe point of
each task every millisecond, and takes the task's stack while the task does not respond. The program must use package cocoon,
and so must the programs that it starts. With -json the program's output goes to the error output.

  -n COUNT  print at most COUNT functions (default %d; 0: all)
  -deps     include the packages' dependencies, as far as they are rewritten
  -json     print an array with an object for each function, with all its gaps

The kinds of gaps:

  loop       it does not poll at each iteration
  recursion  it should poll, and must not
  call, cgo  a call into code that is not instrumented
  lock       a callee polls, but a lock is held
  held       it returns with a lock held, and its callers do not show this
  lost       a resource that no deferred call releases: a throw that has waited 20 ms loses it
  wait       for a channel or a lock
  data       one operation on data of any length
  code       all code on the longest path from one safe point to the next

Lengths are upper estimates, by the costs that cocoon build uses. See docs/safepoints.md, and cocoon build -h for
-cocoon.pkgs, -cocoon.keep and -cocoon.policies.

Exit codes: 0 the report is complete, 1 the go command found errors, 2 wrong use. With -run also that of the program.
`
