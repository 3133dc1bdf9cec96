// Package cocoonsql wraps a database/sql driver so that a task gives its slot back while it waits
// for the database:
//
//	db, err := cocoonsql.Open("postgres", dsn) // instead of sql.Open
//
// # Contexts
//
// The context of a call (QueryContext, ExecContext, BeginTx) identifies the task: pass the context
// that the task got. Calls without a context, such as Rows.Next and Tx.Commit, count as calls of
// the task that made the rows or the transaction with its context. Without a task, a wrapped driver
// behaves like the driver.
//
// # Throws
//
// A throw never unwinds database/sql or the driver, which would lose the connection. If a throw is
// due before a call, the call returns it as its error, a [*cocoon.PreemptedError], and a Commit
// rolls back. If a throw becomes due during a call that takes less than 5 ms, the call is not cut
// short, and the throw unwinds the task at its next safe point. Neither costs a connection. A query
// and its first row are one call: if the query has succeeded, Scan of its row does too, and the
// task learns which lock or job it has got. A longer call ends with its context, as usual. The
// driver may then give up its connection, and the call's error wraps both the throw and
// [driver.ErrBadConn]. The same happens to the connection of a transaction if the task runs for 5
// ms without a safe point after the throw. Drivers and database/sql have other errors for the end
// of a context, such as [sql.ErrTxDone]; a task that returns one of them ends with the throw. While
// a throw unwinds the task, its deferred functions may make calls. Calls with a context that does
// not end with the task's, as returned by [context.WithoutCancel], are possible at any time.
//
// Code that ignores the errors of its statements gets the throw eight times. The next ExecContext of
// a database, a connection or a transaction unwinds it, if the task's context has not ended by then;
// database/sql refuses all calls with an ended context by itself. Queries, prepared statements and
// BeginTx only return the throw, because database/sql would lose the connection: a loop that ignores
// their errors has to look at its context, as without Cocoon.
//
// A throw into a [cocoon.Section] does not end the context of its calls, so they go on, and return
// the throw only when it is 100 ms old, or when a policy throws at the call. A Commit rolls back
// once a call has returned the throw. In a [cocoon.SectionContext], calls with the section's
// context return it at once.
//
// # Pools
//
// If [sql.DB.SetMaxOpenConns] allows fewer connections than tasks need, tasks wait for a
// connection. A driver does not see this wait. The runtime detects it like any unannounced wait:
// the task does not count as running, and the runtime lends its slot.
//
// # The driver's own connection
//
// [sql.Conn.Raw] passes the wrapper; [Raw] of this package passes the driver's own connection.
//
// The package is for databases at the other end of a connection. A database that runs in the
// process, such as SQLite, computes during its calls, and would do so without a slot.
package cocoonsql
