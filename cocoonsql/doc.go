// Package cocoonsql wraps a database/sql driver so that a task gives its slot back while it waits
// for the database:
//
//	db, err := cocoonsql.Open("postgres", dsn) // instead of sql.Open
//
// A task is known by the context of a call (QueryContext, ExecContext, BeginTx): pass that which
// the task was given. What has no context of its own, such as Rows.Next and Tx.Commit, counts as a
// call of the task whose context the rows or the transaction were made with. Without a task, a
// wrapped driver does what the driver does.
//
// A throw never unwinds database/sql or the driver, which would lose the connection: one that is
// due before a call is the call's error, a *cocoon.PreemptedError, and a Commit rolls back; one
// that comes meanwhile unwinds the task at its next safe point. A call that is under way ends with
// its context, as usual. While a throw unwinds the task, deferred calls are made; and at any time
// those with a context that cannot end, as that of context.WithoutCancel. A transaction that was
// thrown out of costs no connection: the driver's context for its end is not ended by the throw.
//
// The wait for a connection, where sql.DB.SetMaxOpenConns allows fewer than tasks want, is not seen
// by a driver. It is found as any wait that is not announced: it does not count as running, and the
// slot is lent.
//
// sql.Conn.Raw gives the wrapper; Raw of this package gives the driver's own connection.
//
// It is for databases on the other side of a connection. One that runs in the process, such as
// SQLite, works during its calls, and would do so without a slot.
package cocoonsql
