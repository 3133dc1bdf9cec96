// Package sqltest tests cocoonsql with real drivers and databases: PostgreSQL by pgx and lib/pq,
// MySQL or MariaDB, and SQLite. It also tests the guide's hooks and pools with their servers. It is
// a separate module, so that users of Cocoon do not download these dependencies. Package servers
// starts the servers; tests of missing servers are skipped.
package sqltest

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonsql/sqltest/servers"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
	_ "modernc.org/sqlite"
)

// lazy is a server that starts when the first test needs it.
type lazy struct {
	get  func() (*servers.Server, error)
	used *servers.Server
}

func once(start func() (*servers.Server, error)) *lazy {
	l := &lazy{}
	l.get = sync.OnceValues(func() (*servers.Server, error) {
		s, err := start()
		l.used = s
		return s, err
	})
	return l
}

var (
	postgres = once(servers.Postgres)
	mysql    = once(servers.MySQL)
	redisd   = once(servers.Redis)
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, l := range []*lazy{postgres, mysql, redisd} {
		if l.used != nil {
			if err := l.used.Stop(); err != nil {
				println(err.Error())
			}
		}
	}
	os.Exit(code)
}

// address returns the server's address. If the server is not installed, it skips the test, with a
// message about how to install it.
func (l *lazy) address(t testing.TB) string {
	t.Helper()
	s, err := l.get()
	if errors.Is(err, servers.ErrMissing) {
		t.Skip(err)
	}
	tasktest.Must(t, err)
	return s.Address
}

// database is a driver of database/sql, and how to use its database.
type database struct {
	name, driver string
	dsn          func(t testing.TB) string
	parameter    func(i int) string
}

func dollar(i int) string   { return "$" + string(rune('0'+i)) }
func question(_ int) string { return "?" }

var databases = []database{
	{name: "pgx", driver: "pgx", dsn: postgres.address, parameter: dollar},
	{name: "pq", driver: "postgres", dsn: postgres.address, parameter: dollar},
	{name: "mysql", driver: "mysql", dsn: mysql.address, parameter: question},
	{name: "sqlite", driver: "sqlite", dsn: func(t testing.TB) string {
		return filepath.Join(t.TempDir(), "test.db") + "?_pragma=busy_timeout(20000)&_pragma=journal_mode(wal)&_txlock=immediate"
	}, parameter: question},
}

// eachDatabase calls f for each available database.
func eachDatabase(t *testing.T, f func(t *testing.T, d database, dsn string)) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) { f(t, d, d.dsn(t)) })
	}
}

// opened opens a database until the end of the test.
func opened(t testing.TB, open func(driver, dsn string) (*sql.DB, error), driver, dsn string) *sql.DB {
	t.Helper()
	db, err := open(driver, dsn)
	tasktest.Must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// spin keeps a core busy for the given time. A throw can end it.
func spin(ctx context.Context, d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
		cocoon.SafePoint(ctx)
	}
}
