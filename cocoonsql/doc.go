// Package cocoonsql wraps a database/sql driver so that a task gives its slot back while it waits for the database:
//
//	db, err := cocoonsql.Open("postgres", dsn) // instead of sql.Open
//
// A task is known by the context of a call (QueryContext, ExecContext, BeginTx): pass that which the task was given. What has
// no context of its own, such as Rows.Next and Tx.Commit, counts as a call of the task whose context the rows or the transaction
// were made with. Without a task, a wrapped driver does what the driver does.
//
// A throw never unwinds database/sql or the driver, which would lose the connection: one that is due before a call is the
// call's error, a *cocoon.PreemptedError, and a Commit rolls back; one that comes meanwhile unwinds the task at its next safe
// point. A call that is under way ends with its context, as usual.
//
// What a driver does not see is the wait for a connection, where sql.DB.SetMaxOpenConns allows fewer than tasks want. The
// task keeps its slot meanwhile, and the one that has the connection may be waiting for just that; then the slot has to be
// lent (Config.StallAfter). Where that is usual, make the calls inside of cocoon.Block.
//
// It is for databases on the other side of a connection. One that runs in the process, such as SQLite, works during its
// calls, and would do so without a slot.
package cocoonsql
