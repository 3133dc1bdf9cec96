// Package cocoondebug serves a page that shows a runtime while it works: its loops and slots, tasks
// and their accounts, policies with their last decisions, states, tenants, stalls and gaps. The
// same is JSON for programs, and "cocoon top" shows it in a terminal.
//
// # Use
//
// Mount the handler as you would mount net/http/pprof, at a pattern that ends in a slash, and where
// only operators can reach it:
//
//	mux.Handle("localhost/debug/cocoon/", cocoondebug.Handler(rt, cocoondebug.Options{}))
//
// With the name of the host, a web site that an operator visits cannot read the page by giving its
// own name the operator's address (DNS rebinding).
//
// Mount it outside of Cocoon's middleware, so that the page needs no slot. Every client that
// reaches the page sees names of tasks, labels and texts of policies. Only actions have an
// authentication. The handler has these paths:
//
//	""           the page; a Snapshot with ?format=json; sorted with ?sort=wait, throws or cpu
//	"stream"     server-sent events with the page's content; with ?format=json Snapshots
//	"documents"  the documents in force, as JSON: Documents
//	"cancel", "mode", "load"  actions by POST, see Options.Actions
//
// The page needs no JavaScript: without it, the page is a snapshot of the moment. It loads nothing
// from other hosts.
//
// # Cost
//
// Before the first look the handler does nothing. From the first look until ten seconds after the
// last one, one goroutine collects for all viewers: it looks at the slots 20 times a second, and
// makes a snapshot twice a second, which takes about a millisecond. After the first look, the
// runtime's stream of decisions also has switches, see [cocoon.Runtime.Decisions].
//
// Everything is bounded: a snapshot lists only some names, tasks, policies and decisions, and says
// how many more there are. A viewer that reads slowly skips snapshots, and a viewer whose
// connection takes nothing for ten seconds is dropped; Snapshot.Viewers counts both.
package cocoondebug
