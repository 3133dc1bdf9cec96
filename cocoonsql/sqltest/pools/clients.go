package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/bradfitz/gomemcache/memcache"
	_ "github.com/go-sql-driver/mysql"
	"github.com/gomodule/redigo/redis"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
	goredis "github.com/redis/go-redis/v9"
)

// clients open the clients by name.
var clients = map[string]func(address string) (client, error){
	"pgxpool": pgxPool, "go-redis": goRedis, "go-redis subscriptions": subscriptions, "redigo": redigo, "memcache": memcached, "http": httpClient,
	"database/sql with pgx":   sqlOpens("pgx", "select $1::text"),
	"database/sql with pq":    sqlOpens("postgres", "select $1::text"),
	"database/sql with mysql": sqlOpens("mysql", "select cast(? as char)"),
}

// same returns an error if an answer is not the wanted one.
func same(got, want string) error {
	if got != want {
		return fmt.Errorf("%w: %q instead of %q", errWrong, got, want)
	}
	return nil
}

func pgxPool(address string) (client, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return client{}, err
	}
	config.MaxConns = places
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return client{}, err
	}
	return client{
		use: func(ctx context.Context, id string) error {
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
				rows, err := tx.Query(ctx, "select $1::text from generate_series(1, 9)", id)
				if err != nil {
					return err
				}
				all, err := pgx.CollectRows(rows, pgx.RowTo[string])
				if err != nil {
					return err
				}
				return same(strings.Join(all, ""), strings.Repeat(id, 9))
			})
		},
		in:     func() int { return int(pool.Stat().AcquiredConns()) },
		closed: func() error { pool.Close(); return nil },
	}, nil
}

func sqlOpens(driver, query string) func(address string) (client, error) {
	return func(address string) (client, error) {
		db, err := sql.Open(driver, address)
		if err != nil {
			return client{}, err
		}
		db.SetMaxOpenConns(places)
		db.SetMaxIdleConns(places)
		return client{
			use: func(ctx context.Context, id string) error {
				tx, err := db.BeginTx(ctx, nil)
				if err != nil {
					return err
				}
				defer tx.Rollback()
				rows, err := tx.QueryContext(ctx, query, id)
				if err != nil {
					return err
				}
				defer rows.Close()
				for rows.Next() {
					var got string
					if err := rows.Scan(&got); err != nil {
						return err
					}
					if err := same(got, id); err != nil {
						return err
					}
				}
				if err := rows.Err(); err != nil {
					return err
				}
				return tx.Commit()
			},
			in:     func() int { return db.Stats().InUse },
			closed: db.Close,
		}, nil
	}
}

func goRedis(address string) (client, error) {
	c := goredis.NewClient(&goredis.Options{Addr: address, PoolSize: places, ContextTimeoutEnabled: true})
	return client{
		use: func(ctx context.Context, id string) error {
			pipe := c.TxPipeline()
			pipe.Set(ctx, id, id, 0)
			got := pipe.Get(ctx, id)
			if _, err := pipe.Exec(ctx); err != nil {
				return err
			}
			if err := same(got.Val(), id); err != nil {
				return err
			}
			all, err := c.MGet(ctx, id, id, id).Result()
			if err != nil {
				return err
			}
			return same(fmt.Sprint(all...), fmt.Sprint(id, id, id))
		},
		in:     func() int { s := c.PoolStats(); return int(s.TotalConns - s.IdleConns) },
		closed: c.Close,
	}, nil
}

// subscriptions are a pool of subscriptions, each of one channel. A user publishes to the channel and
// receives until its own message comes: a user before it may have left some. go-redis receives
// without regard to the end of a context.
func subscriptions(address string) (client, error) {
	c := goredis.NewClient(&goredis.Options{Addr: address})
	free := make(chan *goredis.PubSub, places)
	for n := range places {
		s := c.Subscribe(context.Background(), fmt.Sprint("channel", n))
		if _, err := s.Receive(context.Background()); err != nil {
			return client{}, err
		}
		free <- s
	}
	return client{
		use: func(ctx context.Context, id string) error {
			var s *goredis.PubSub
			select {
			case s = <-free:
			case <-ctx.Done():
				return ctx.Err()
			}
			defer func() { free <- s }()
			channel := strings.TrimSuffix(strings.TrimPrefix(s.String(), "PubSub("), ")")
			payload := strings.Repeat(id, 9)
			if err := c.Publish(context.WithoutCancel(ctx), channel, payload).Err(); err != nil {
				return err
			}
			for {
				got, err := s.ReceiveTimeout(ctx, patience/2)
				if err != nil {
					return fmt.Errorf("%w: %v", errWrong, err)
				}
				m, ok := got.(*goredis.Message)
				if !ok || m.Channel != channel {
					return fmt.Errorf("%w: %v", errWrong, got)
				}
				if m.Payload == payload {
					return nil
				}
			}
		},
		in:     func() int { return places - len(free) },
		closed: c.Close,
	}, nil
}

func redigo(address string) (client, error) {
	pool := &redis.Pool{MaxActive: places, MaxIdle: places, Wait: true, DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", address)
	}}
	return client{
		use: func(ctx context.Context, id string) error {
			c, err := pool.GetContext(ctx)
			if err != nil {
				return err
			}
			defer c.Close()
			if _, err := c.Do("SET", id, id); err != nil {
				return err
			}
			all, err := redis.Strings(redis.DoContext(c, ctx, "MGET", id, id, id))
			if err != nil {
				return err
			}
			return same(strings.Join(all, ""), id+id+id)
		},
		in:     func() int { s := pool.Stats(); return s.ActiveCount - s.IdleCount },
		closed: pool.Close,
	}, nil
}

func memcached(address string) (client, error) {
	c := memcache.New(address)
	c.MaxIdleConns = places
	var mu sync.Mutex
	used := 0
	count := func(n int) { mu.Lock(); defer mu.Unlock(); used += n }
	return client{
		use: func(ctx context.Context, id string) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			count(1)
			defer count(-1)
			if err := c.Set(&memcache.Item{Key: id, Value: []byte(id)}); err != nil {
				return err
			}
			item, err := c.Get(id)
			if err != nil {
				return err
			}
			return same(string(item.Value), id)
		},
		in:     func() int { mu.Lock(); defer mu.Unlock(); return used },
		closed: c.Close,
	}, nil
}

// httpClient follows redirects, half of them in requests that no context ends.
func httpClient(address string) (client, error) {
	transport := &http.Transport{MaxConnsPerHost: places, MaxIdleConnsPerHost: places}
	c := &http.Client{Transport: transport}
	return client{
		use: func(ctx context.Context, id string) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if len(id)%2 == 0 {
				ctx = context.WithoutCancel(ctx)
			}
			r, err := http.NewRequestWithContext(ctx, "GET", address+"/redirect?"+id, nil)
			if err != nil {
				return err
			}
			resp, err := c.Do(r)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if err != nil {
				return err
			}
			return same(string(got), id)
		},
		closed: func() error { transport.CloseIdleConnections(); return nil },
	}, nil
}
