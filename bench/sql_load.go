package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonsql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// ledgerLoad is a closed loop of transfers between accounts.
type ledgerLoad struct {
	address              string
	workers, connections int
	limit                time.Duration // of a transfer's running time; 0: none
	rest                 time.Duration // until the next endless transfer; 0: there are none
}

// The figures of a load.
const (
	ledgerRate   = iota // transfers a second
	ledgerLost          // connections lost for each interrupted transfer
	ledgerBroken        // share of the transfers that were interrupted
)

// connecting counts new connections.
type connecting struct {
	driver.Connector
	made *atomic.Int64
}

func (c connecting) Connect(ctx context.Context) (driver.Conn, error) {
	c.made.Add(1)
	return c.Connector.Connect(ctx)
}

// plain measures the load without Cocoon. The end of its context ends an endless transfer.
func (l ledgerLoad) plain(ctx context.Context, e effort) (figures, error) {
	return l.measure(ctx, e, func(c driver.Connector) driver.Connector { return c }, func(ctx context.Context, endless bool, f func(context.Context, func() bool) error) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if endless {
			defer time.AfterFunc(sqlLimit, cancel).Stop()
		}
		return f(ctx, func() bool { return ctx.Err() == nil })
	})
}

// inTasks measures the load in tasks. A throw ends an endless transfer at its limit.
func (l ledgerLoad) inTasks(ctx context.Context, e effort) (_ figures, err error) {
	rt, err := cocoon.New(cocoon.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rt.Shutdown(context.Background())) }()
	if l.limit > 0 {
		_, err = rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "transfer", Limit: l.limit})
	}
	if l.rest > 0 {
		_, err = rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "endless", Limit: sqlLimit})
	}
	if err != nil {
		return nil, err
	}
	return l.measure(ctx, e, cocoonsql.Connector, func(ctx context.Context, endless bool, f func(context.Context, func() bool) error) error {
		name := "transfer"
		if endless {
			name = "endless"
		}
		return rt.Run(ctx, name, func(ctx context.Context) error {
			return f(ctx, func() bool { cocoon.SafePoint(ctx); return true })
		})
	})
}

// measure runs the load for the span. as runs a transfer, and the transfer's own work asks at each
// step whether it may go on.
func (l ledgerLoad) measure(ctx context.Context, e effort, wrap func(driver.Connector) driver.Connector,
	as func(ctx context.Context, endless bool, f func(context.Context, func() bool) error) error,
) (figures, error) {
	config, err := pgx.ParseConfig(l.address)
	if err != nil {
		return nil, err
	}
	var made, ended, broken, endless atomic.Int64
	db := sql.OpenDB(wrap(connecting{stdlib.GetConnector(*config), &made}))
	defer db.Close()
	db.SetMaxOpenConns(l.connections)
	db.SetMaxIdleConns(l.connections)
	begin := time.Now()
	var all sync.WaitGroup
	failures := make(chan error, l.workers)
	for range l.workers {
		all.Go(func() {
			for time.Since(begin) < e.span {
				// Two workers may see the same value, which makes one more.
				due := l.rest > 0 && endless.Load() < int64(time.Since(begin)/l.rest)
				if due {
					endless.Add(1)
				}
				err := as(ctx, due, func(ctx context.Context, more func() bool) error {
					err := transfer(ctx, db, due, more)
					if err != nil && ctx.Err() != nil {
						// Not what pgx makes of it, a timeout of the connection.
						return context.Cause(ctx)
					}
					return err
				})
				var throw *cocoon.PreemptedError
				switch {
				case err == nil:
					ended.Add(1)
				case errors.As(err, &throw), errors.Is(err, context.Canceled):
					broken.Add(1)
				default:
					failures <- err
					return
				}
			}
		})
	}
	all.Wait()
	select {
	case err := <-failures:
		return nil, err
	default:
	}
	lost := float64(made.Load()-int64(db.Stats().OpenConnections)) / float64(max(1, broken.Load()))
	seconds, done := time.Since(begin).Seconds(), float64(ended.Load())
	return figures{done / seconds, lost, float64(broken.Load()) / max(1, done)}, nil
}

// transfer moves an amount of one between two accounts, with 0.1 ms of its own work in the
// transaction, or endless work.
func transfer(ctx context.Context, db *sql.DB, endless bool, more func() bool) error {
	from, to := rand.IntN(accounts), rand.IntN(accounts)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var money int
	if err := tx.QueryRowContext(ctx, `select money from accounts where id = $1`, from).Scan(&money); err != nil {
		return err
	}
	for begin := time.Now(); endless || time.Since(begin) < 100*time.Microsecond; {
		if !more() {
			return ctx.Err()
		}
	}
	// In the same order, or two transfers would deadlock.
	for _, id := range []int{min(from, to), max(from, to)} {
		change := 1
		if id == from {
			change = -1
		}
		if from == to {
			change = 0
		}
		if _, err := tx.ExecContext(ctx, `update accounts set money = money + $1 where id = $2`, change, id); err != nil {
			return err
		}
	}
	return tx.Commit()
}
