package keep

// Library is a rule for a library. It applies to every program that cocoon build creates.
type Library struct {
	Rule
	Why string // what a throw there did; docs/safepoints.md has the same words
}

// Libraries lists the libraries known to need a rule. Each has been observed to break.
var Libraries = []Library{
	{Rule{"sync.(*Once).doSlow", true}, "the function counts as done, and never runs again"},
	{Rule{"net/http.(*Client).*", true}, "the connection of a redirected request is never used again"},
	{Rule{"net/http.(*Transport).*", true}, "a place for connections to the host stays taken"},
	{Rule{"database/sql", true}, "the connection of the call is never used again"},
	{Rule{"google.golang.org/grpc.(*ClientConn).*", true}, "the stream that the call has taken from the connection's quota is lost"},
	{Rule{"google.golang.org/grpc.(*clientStream).*", true}, "the stream that the call has taken from the connection's quota is lost"},
	{Rule{"github.com/jackc/puddle/v2", true}, "a place of the pool stays taken"},
	{Rule{"github.com/jackc/pgx/v5/pgxpool.(*Pool).*", true}, "the connection that the call has acquired stays acquired"},
	{Rule{"github.com/jackc/pgx/v5/pgxpool.(*poolRows).*", true}, "the connection of the rows stays acquired"},
	{Rule{"github.com/jackc/pgx/v5.(*Conn).*", true}, "the connection stays busy, and its transaction open"},
	{Rule{"github.com/jackc/pgx/v5.(*dbTx).*", true}, "the transaction stays open"},
	{Rule{"github.com/redis/go-redis/v9.(*baseClient).*", true}, "the connection stays taken, or the next call gets the reply to this one"},
	{Rule{"github.com/redis/go-redis/v9.(*PubSub).*", true}, "the next call reads from the middle of a message: it fails, or waits forever"},
	{Rule{"github.com/gomodule/redigo/redis", true}, "the connection stays taken, or the next call gets the reply to this one"},
	{Rule{"github.com/bradfitz/gomemcache/memcache", true}, "the next call gets the reply to this one"},
	{Rule{"github.com/valyala/fasthttp.(*HostClient).*", true}, "the connection of the call stays taken"},
	{Rule{"modernc.org/sqlite/lib", true}, "the package is C translated to Go: its locks stay locked"},
	{Rule{"zombiezen.com/go/sqlite/...", true}, "the connection never comes back to its pool, whose `Put` panics if a row of a query is left"},
	{Rule{".../singleflight", true}, "the callers that wait for the result get the panic, or wait forever"},
	{Rule{"compress/flate.(*deflateFast).*", true}, "the next user of a pooled writer of level 1 sends a stream that does not decode, without an error"},
	{Rule{"github.com/dgraph-io/badger/v4.(*Txn).Commit", true}, "the database never begins a transaction again: each waits for the commit"},
	{Rule{"github.com/dgraph-io/badger/v4.(*Txn).CommitWith", true}, "the database never begins a transaction again: each waits for the commit"},
	{Rule{"github.com/panjf2000/ants/v2.(*Pool).Submit", true}, "the worker that the call has taken waits forever for its job, and its place is lost"},
	{Rule{"github.com/panjf2000/ants/v2.(*PoolWithFunc).Invoke", true}, "the worker that the call has taken waits forever for its job, and its place is lost"},
	{Rule{"github.com/panjf2000/ants/v2.(*PoolWithFuncGeneric).Invoke", true}, "the worker that the call has taken waits forever for its job, and its place is lost"},
	{Rule{"github.com/gorilla/websocket.(*Conn).*", true}, "the next write panics with `concurrent write to websocket connection`"},
	{Rule{"github.com/gorilla/websocket.(*messageWriter).*", true}, "the next write panics with `concurrent write to websocket connection`"},
	{Rule{"github.com/hashicorp/golang-lru/v2.(*Cache).*", true}, "an evicted entry is never passed to the callback that closes it"},
	{Rule{"github.com/open-policy-agent/opa/v1/rego.(*Rego).Eval", true}, "the read transaction of the query stays open: the next write to its store waits forever"},
	{Rule{"github.com/open-policy-agent/opa/v1/rego.(*Rego).Partial", true}, "the read transaction of the query stays open: the next write to its store waits forever"},
	{Rule{"github.com/open-policy-agent/opa/v1/rego.(*Rego).PartialResult", true}, "the read transaction of the query stays open: the next write to its store waits forever"},
	{Rule{"github.com/open-policy-agent/opa/v1/rego.(*Rego).PrepareForEval", true}, "the read transaction of the query stays open: the next write to its store waits forever"},
	{Rule{"github.com/open-policy-agent/opa/v1/rego.(*Rego).PrepareForPartial", true}, "the read transaction of the query stays open: the next write to its store waits forever"},
	{Rule{"github.com/open-policy-agent/opa/v1/rego.(*Rego).Compile", true}, "the read transaction of the query stays open: the next write to its store waits forever"},
	{Rule{"github.com/aymerick/raymond/parser.Parse", true}, "the goroutine that splits the template into tokens waits forever"},
	{Rule{"gorm.io/gorm/schema.ParseWithSpecialTableName", true},
		"the schema is in the cache before its relations are: each later query of the model fails, `unsupported relations for schema`"},
	{Rule{"io.(*pipe).read", true}, "the writer waits forever, even after `Close`, for the number of bytes that were read"},
	{Rule{"net.(*pipe).read", true}, "the writer waits forever, even after `Close`, for the number of bytes that were read"},
	{Rule{"compress/flate.(*compressor).findMatch", false}, "the next `Close` of the writer panics, `index out of range`, also in a deferred call"},
	{Rule{"compress/flate.(*compressor).writeBlock", false}, "the next `Close` of the writer panics, `index out of range`, also in a deferred call"},
	{Rule{"fmt.(*pp).handleMethods", false}, "the text of the throw becomes part of the formatted text"},
	{Rule{"log/slog.Value.Resolve", false}, "the text of the throw becomes the attribute's value"},
	{Rule{"log/slog.(*handleState).appendValue", false}, "the text of the throw becomes the attribute's value"},
	{Rule{"flag.isZeroValue", false}, "the text of the throw becomes part of the usage message"},
	{Rule{"debug/gosym.(*LineTable).*", false}, "the table counts as one without entries, or as one of Go 1.1"},
}

// Rules returns the rules of Libraries.
func Rules() (all []Rule) {
	for _, l := range Libraries {
		all = append(all, l.Rule)
	}
	return all
}
