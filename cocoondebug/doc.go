// Package cocoondebug serves a page that shows a running runtime: its loops and slots, tasks and
// their accounts, policies with their last decisions, states, tenants, stalls and gaps. Programs
// get the same data as JSON, and "cocoon top" shows it in a terminal.
//
// # Use
//
// Mount the handler as you would mount net/http/pprof, at a pattern that ends in a slash, and where
// only operators can reach it:
//
//	mux.Handle("localhost/debug/cocoon/", cocoondebug.Handler(rt, cocoondebug.Options{}))
//
// The host name keeps other web sites out: without it, a web site that an operator visits could
// point its own name at the operator's machine, and read the page (DNS rebinding).
//
// Mount the handler outside Cocoon's middleware, so that the page needs no slot. Every client that
// reaches the page sees names of tasks, labels and texts of policies. Only actions need
// authentication. The handler has these paths:
//
//	""           the page; a Snapshot with ?format=json; sorted with ?sort=wait, throws or cpu
//	"stream"     server-sent events with the page's content; with ?format=json Snapshots
//	"documents"  the documents in force, as JSON: Documents
//	"cancel", "mode", "load"  actions by POST, see Options.Actions
//
// Without JavaScript, the page is a snapshot. It loads nothing from other hosts.
//
// # Cost
//
// Before the first request the handler does nothing. From the first request until ten seconds after
// the last one, one goroutine collects for all viewers: it reads the slots 20 times a second, and
// makes a snapshot twice a second, which takes about a millisecond. From the first request on, the
// runtime's stream of decisions also has switches, see [cocoon.Runtime.Decisions].
//
// Everything is bounded: a snapshot lists only some names, tasks, policies and decisions, and says
// how many more there are. A viewer that reads slowly misses snapshots. If a viewer's connection
// takes nothing for ten seconds, the handler closes it. Snapshot.Viewers counts both.
package cocoondebug
