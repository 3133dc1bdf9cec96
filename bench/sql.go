package main

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/cocoon-go/cocoon/cocoonsql/sqltest/servers"
)

// sqlSection measures transactions of PostgreSQL by pgx and database/sql: plain, and in tasks with
// cocoonsql. There are four cases: no transaction is interrupted; transactions are interrupted
// during their own work 25 times a second, in tasks by a limit and in plain Go by the end of a
// context; and the pool is much too small, without a limit and with a limit shorter than the wait
// for a connection.
func sqlSection(ctx context.Context, r *report) error {
	return sqlWith(ctx, r, effort{rounds: 15, span: 500 * time.Millisecond})
}

const (
	sqlLimit = 5 * time.Millisecond  // of a transaction's running time, which is 0.1 ms
	sqlRest  = 40 * time.Millisecond // between two interrupted transactions: 25 a second
)

func sqlWith(ctx context.Context, r *report, e effort) (err error) {
	s, err := servers.Postgres()
	if errors.Is(err, servers.ErrMissing) {
		r.progress("skipped: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	if err := makeAccounts(s.Address); err != nil {
		return err
	}
	whole := ledgerLoad{address: s.Address, workers: 8, connections: 8}
	broken, few, fewLimited := whole, whole, whole
	broken.rest = sqlRest
	few.workers, few.connections = 32, 4
	fewLimited = few
	fewLimited.limit = sqlLimit
	got, err := medians(ctx, e,
		whole.plain, whole.inTasks, broken.plain, broken.inTasks, few.plain, few.inTasks, fewLimited.inTasks)
	if err != nil {
		return err
	}
	add := func(name, metric string, figure int, unit string, with, plain figures, peer string, c claim) {
		r.add(result{Name: name, Metric: metric, Value: with[figure], Unit: unit, Peer: peer, PeerValue: plain[figure]}, c)
	}
	add("undisturbed", "throughput", ledgerRate, "1/s", got[1], got[0], "plain Go", claim{atLeast: 0.85})
	add("25 throws a second", "throughput", ledgerRate, "1/s", got[3], got[2], "plain Go, 25 cancels", claim{atLeast: 0.9})
	add("25 throws a second", "throughput", ledgerRate, "1/s", got[3], got[1], "no throws", claim{})
	add("25 throws a second", "lost", ledgerLost, "connections a throw", got[3], got[2], "plain Go, 25 cancels", upTo(0.2))
	add("32 for 4 connections", "throughput", ledgerRate, "1/s", got[5], got[4], "plain Go", claim{atLeast: 0.9})
	add("32 for 4 connections, 5 ms limit", "throughput", ledgerRate, "1/s", got[6], got[4], "plain Go", claim{atLeast: 0.9})
	add("32 for 4 connections, 5 ms limit", "thrown", ledgerBroken, "of those that ended", got[6], got[4], "plain Go", upTo(0.001))
	return checkAccounts(s.Address)
}

const accounts, startMoney = 1000, 1000

func makeAccounts(address string) error {
	return inDatabase(address, func(db *sql.DB) error {
		for _, q := range []string{
			`drop table if exists accounts`, `create table accounts (id int primary key, money bigint not null)`,
			`insert into accounts select i, 1000 from generate_series(0, 999) i`,
		} {
			if _, err := db.Exec(q); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkAccounts returns an error if the books do not balance.
func checkAccounts(address string) error {
	return inDatabase(address, func(db *sql.DB) error {
		var sum int
		if err := db.QueryRow(`select sum(money) from accounts`).Scan(&sum); err != nil {
			return err
		}
		if sum != accounts*startMoney {
			return errors.New("the accounts do not have what they had")
		}
		return nil
	})
}

func inDatabase(address string, f func(*sql.DB) error) error {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	return errors.Join(f(db), db.Close())
}
