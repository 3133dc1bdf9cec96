package sqltest

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonhttp"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/redis/go-redis/v9"
)

// soakServer is a typical server: transactions, a cache with locks in it, an event stream, a proxy.
// Each response ends with the line "end". A request with ?long works endlessly at some point, and
// is then thrown into.
type soakServer struct {
	db    *sql.DB
	cache *redis.Client
	ids   atomic.Int64
	front *httptest.Server
	back  *httptest.Server
}

const soakLimits = `
version: 1
limits:
  - {func: POST /transfer, limit: 5ms}
  - {func: GET /cached, limit: 5ms}
  - {func: GET /stream, limit: 5ms}
  - {func: GET /proxied, limit: 5ms}
`

const soakAccounts = 100

// newSoakServer starts the server with clients that the caller closes.
func newSoakServer(t *testing.T, rt *cocoon.Runtime, db *sql.DB, cache *redis.Client) *soakServer {
	s := &soakServer{db: db, cache: cache}
	for _, q := range []string{
		"drop table if exists soak_ledger", "drop table if exists soak_accounts",
		"create table soak_accounts (id int primary key, money bigint not null)",
		"insert into soak_accounts select i, 1000 from generate_series(0, 99) i",
		"create table soak_ledger (id bigint primary key, payer int, payee int)",
	} {
		_, err := db.Exec(q)
		tasktest.Must(t, err)
	}
	tasktest.Must(t, rt.LoadPolicies(strings.NewReader(soakLimits)))
	s.back = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Repeat("from behind\n", 1000), "end\n")
	}))
	behind, err := url.Parse(s.back.URL)
	tasktest.Must(t, err)
	proxy := httputil.NewSingleHostReverseProxy(behind)
	proxy.Transport = &cocoonhttp.Transport{}
	proxy.ErrorLog = discard

	mux := http.NewServeMux()
	mux.HandleFunc("POST /transfer", s.transfer)
	mux.HandleFunc("GET /cached", s.cached)
	mux.HandleFunc("GET /stream", stream)
	mux.HandleFunc("GET /proxied", func(w http.ResponseWriter, r *http.Request) {
		work(r)
		proxy.ServeHTTP(w, r)
	})
	s.front = httptest.NewUnstartedServer(cocoonhttp.Middleware(rt, cocoonhttp.Options{})(mux))
	s.front.Config.ErrorLog = discard
	s.front.Start()
	return s
}

func (s *soakServer) stop() {
	s.front.Close()
	s.back.Close()
}

// work is the handler's own work: 0.1 ms, or endless if the request asks for that.
func work(r *http.Request) {
	if d := 100 * time.Microsecond; r.FormValue("long") == "" {
		spin(r.Context(), d)
	} else {
		spin(r.Context(), time.Minute)
	}
}

func (s *soakServer) transfer(w http.ResponseWriter, r *http.Request) {
	id, err := s.ids.Add(1), error(nil)
	if err = s.move(r, id); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprintf(w, "%d\nend\n", id)
}

func (s *soakServer) move(r *http.Request, id int64) error {
	ctx := r.Context()
	payer := rand.IntN(soakAccounts)
	payee := (payer + 1 + rand.IntN(soakAccounts-1)) % soakAccounts
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "insert into soak_ledger values ($1, $2, $3)", id, payer, payee); err != nil {
		return err
	}
	for i, account := range []int{min(payer, payee), max(payer, payee)} {
		change := 1
		if account == payer {
			change = -1
		}
		if _, err := tx.ExecContext(ctx, "update soak_accounts set money = money + $1 where id = $2", change, account); err != nil {
			return err
		}
		if i == 0 {
			work(r)
		}
	}
	return tx.Commit()
}

// cached holds a lock in the cache while it works.
func (s *soakServer) cached(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	lock := fmt.Sprint("lock:", s.ids.Add(1))
	// Deferred before the call: if the call fails, it is unknown whether the lock was set.
	defer s.cache.Del(context.WithoutCancel(ctx), lock)
	if err := s.cache.SetArgs(ctx, lock, 1, redis.SetArgs{Mode: "NX"}).Err(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	work(r)
	_, err := s.cache.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Incr(ctx, "visits")
		p.Get(ctx, "visits")
		return nil
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	io.WriteString(w, "cached\nend\n")
}

func stream(w http.ResponseWriter, r *http.Request) {
	for i := range 10 {
		fmt.Fprintf(w, "event %d\n", i)
		http.NewResponseController(w).Flush()
		if i == 5 {
			work(r)
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-r.Context().Done():
			return
		}
	}
	io.WriteString(w, "end\n")
}
