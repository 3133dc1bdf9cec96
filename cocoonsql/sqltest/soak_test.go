package sqltest

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonsql"
	"github.com/cocoon-go/cocoon/cocoonsql/sqltest/recipes"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/redis/go-redis/v9"
)

var soakFor = flag.Duration("soak", 3*time.Second, "how long TestSoak keeps the server under load; make soak takes 10 minutes")

var discard = log.New(io.Discard, "", 0)

// outcomes are what clients received.
type outcomes struct {
	whole, refused, cut atomic.Int64

	mu        sync.Mutex
	transfers []int64 // reported as done
}

// TestSoak runs a server with transactions, a cache, a stream and a proxy, and throws into its
// handlers 50 times a second. Each response is whole, refused, or visibly cut; the books balance;
// and afterwards nothing has leaked.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes ", *soakFor)
	}
	dsn, at := postgres.address(t), redisd.address(t)
	admin := opened(t, sql.Open, "pgx", dsn)
	db := opened(t, cocoonsql.Open, "pgx", dsn+"&application_name=soak")
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	cache := redis.NewClient(&redis.Options{Addr: at, PoolSize: 8})
	defer cache.Close()
	cache.AddHook(recipes.RedisHook{})
	rt := tasktest.Start(t, cocoon.Config{})
	s := newSoakServer(t, rt, db, cache)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 20 * time.Second}
	var o outcomes
	s.load(t, client, &o, min(*soakFor/4, 5*time.Second)) // until pools and caches are full
	before := s.settled(t, rt, client)

	s.load(t, client, &o, *soakFor)
	after := s.settled(t, rt, client)
	t.Logf("%d answers whole, %d refused, %d cut; goroutines %d, then %d; heap %d KiB, then %d",
		o.whole.Load(), o.refused.Load(), o.cut.Load(), before.goroutines, after.goroutines, before.heap>>10, after.heap>>10)
	if throws := o.refused.Load() + o.cut.Load(); throws < int64(5*soakFor.Seconds()) {
		t.Errorf("only %d requests were thrown out of", throws)
	}
	if after.goroutines > before.goroutines+16 { // the pools may hold more
		buf := make([]byte, 1<<16)
		t.Errorf("%d goroutines, before there were %d:\n%s", after.goroutines, before.goroutines, buf[:runtime.Stack(buf, true)])
	}
	if kept := uint64(8 * cap(o.transfers)); after.heap > before.heap+kept+4<<20 {
		t.Errorf("a heap of %d KiB, before there were %d", after.heap>>10, before.heap>>10)
	}
	s.checkBooks(t, admin, &o)
	s.stop()
	client.CloseIdleConnections()
}

// load sends requests for a while: eight clients as fast as responses arrive, and 50 endless
// requests a second.
func (s *soakServer) load(t *testing.T, client *http.Client, o *outcomes, span time.Duration) {
	var all sync.WaitGroup
	defer all.Wait()
	end := time.Now().Add(span)
	for range 8 {
		all.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				s.ask(t, client, o, "")
				time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
			}
		})
	}
	for time.Now().Before(end) && !t.Failed() {
		all.Go(func() { s.ask(t, client, o, "?long=1") })
		time.Sleep(20 * time.Millisecond)
	}
}

// ask sends a request, and fails the test if the response is incomplete without a visible cut.
func (s *soakServer) ask(t *testing.T, client *http.Client, o *outcomes, query string) {
	method, path := "GET", []string{"/transfer", "/transfer", "/cached", "/stream", "/proxied"}[rand.IntN(5)]
	if path == "/transfer" {
		method = "POST"
	}
	r, err := http.NewRequest(method, s.front.URL+path+query, nil)
	tasktest.Must(t, err)
	answer, err := client.Do(r)
	if err != nil {
		o.cut.Add(1)
		return
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		o.cut.Add(1)
	case answer.StatusCode >= 500:
		o.refused.Add(1)
	case answer.StatusCode != 200 || !strings.HasSuffix(string(body), "end\n"):
		t.Errorf("%s: half an answer: %s, %q", path, answer.Status, body[max(0, len(body)-100):])
	default:
		o.whole.Add(1)
		var id int64
		if _, err := fmt.Sscan(string(body), &id); path == "/transfer" {
			tasktest.Must(t, err)
			o.mu.Lock()
			o.transfers = append(o.transfers, id)
			o.mu.Unlock()
		}
	}
}

// rest is what an idle process holds.
type rest struct {
	goroutines int
	heap       uint64
}

// settled waits until all resources of the requests are released, and returns what is left.
func (s *soakServer) settled(t *testing.T, rt *cocoon.Runtime, client *http.Client) rest {
	ctx := context.Background()
	tasktest.Eventually(t, "all tasks to end", func() bool { return rt.Stats().Tasks == 0 })
	tasktest.Eventually(t, "all connections to be free", func() bool { return s.db.Stats().InUse == 0 })
	tasktest.Eventually(t, "Redis's to be free", func() bool {
		p := s.cache.PoolStats()
		return p.TotalConns == p.IdleConns
	})
	keys, err := s.cache.Keys(ctx, "lock:*").Result()
	tasktest.Must(t, err)
	if len(keys) != 0 {
		t.Errorf("locks are left in the cache: %q", keys)
	}
	tasktest.Eventually(t, "PostgreSQL to have as many connections as the pool", func() bool {
		var busy, all, locks int
		tasktest.Must(t, s.db.QueryRow(`select count(*) filter (where state <> 'idle' and pid <> pg_backend_pid()), count(*),
			(select count(*) from pg_locks l join pg_stat_activity a using (pid) where application_name = 'soak' and pid <> pg_backend_pid())
			from pg_stat_activity where application_name = 'soak'`).Scan(&busy, &all, &locks))
		return busy == 0 && locks == 0 && all == s.db.Stats().OpenConnections
	})
	client.CloseIdleConnections()
	time.Sleep(200 * time.Millisecond) // lets goroutines end
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return rest{runtime.NumGoroutine(), m.HeapAlloc}
}

// checkBooks compares the accounts with the ledger, and the ledger with the responses that clients
// got.
func (s *soakServer) checkBooks(t *testing.T, admin *sql.DB, o *outcomes) {
	var wrong, entries int
	tasktest.Must(t, admin.QueryRow(`select count(*) from soak_accounts a where money <> 1000
		- (select count(*) from soak_ledger where payer = a.id) + (select count(*) from soak_ledger where payee = a.id)`).Scan(&wrong))
	if wrong != 0 {
		t.Errorf("%d accounts do not have what the ledger says", wrong)
	}
	rows, err := admin.Query("select id from soak_ledger")
	tasktest.Must(t, err)
	defer rows.Close()
	done := map[int64]bool{}
	for ; rows.Next(); entries++ {
		var id int64
		tasktest.Must(t, rows.Scan(&id))
		done[id] = true
	}
	tasktest.Must(t, rows.Err())
	for _, id := range o.transfers {
		if !done[id] {
			t.Errorf("transfer %d was answered as done, and is not in the ledger", id)
		}
	}
	t.Logf("%d transfers answered as done, %d in the ledger", len(o.transfers), entries)
}
