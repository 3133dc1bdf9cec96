package sqltest

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonsql/sqltest/recipes"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
)

// TestGuideShowsRecipes checks that docs/guide.md shows the recipes unchanged.
func TestGuideShowsRecipes(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide.md")
	tasktest.Must(t, err)
	for _, name := range []string{"redis.go", "pgx.go"} {
		text, err := os.ReadFile("recipes/" + name)
		tasktest.Must(t, err)
		_, code, _ := strings.Cut(string(text), ")\n\n") // after the imports
		if !strings.Contains(string(guide), "```go\n"+code+"```\n") {
			t.Errorf("docs/guide.md does not show recipes/%s as it is", name)
		}
	}
}

// waitsAside reports an error if wait keeps other tasks from running; release ends the wait, and
// runs in another task.
func waitsAside(t *testing.T, loop *cocoon.Loop, wait func(ctx context.Context) error, release func(ctx context.Context) error) {
	t.Helper()
	began := make(chan struct{})
	h := loop.Go(context.Background(), "waits", func(ctx context.Context) error {
		close(began)
		return wait(ctx)
	})
	<-began
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	tasktest.Must(t, loop.Run(ctx, "releases", release))
	tasktest.Must(t, h.Wait(ctx))
}

// TestRedisHook checks that all calls of go-redis give the slot back: commands, pipelines,
// transactions, and the wait for a connection.
func TestRedisHook(t *testing.T) {
	at := redisd.address(t)
	rt, loop := tasktest.OneSlot(t)
	c := redis.NewClient(&redis.Options{Addr: at})
	defer c.Close()
	c.AddHook(recipes.RedisHook{})
	push := func(key string) func(context.Context) error {
		return func(ctx context.Context) error { return c.RPush(ctx, key, "x").Err() }
	}
	waitsAside(t, loop, func(ctx context.Context) error { return c.BLPop(ctx, 5*time.Second, "command").Err() }, push("command"))
	waitsAside(t, loop, func(ctx context.Context) error {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error { p.BLPop(ctx, 5*time.Second, "pipeline"); return nil })
		return err
	}, push("pipeline"))
	few := redis.NewClient(&redis.Options{Addr: at, PoolSize: 1})
	defer few.Close()
	few.AddHook(recipes.RedisHook{})
	waitsAside(t, loop, func(ctx context.Context) error { return few.BLPop(ctx, 5*time.Second, "few").Err() }, func(ctx context.Context) error {
		h := rt.Loop().Go(context.Background(), "waits for the connection", func(ctx context.Context) error { return few.Ping(ctx).Err() })
		return errors.Join(push("few")(ctx), cocoon.Block(ctx, func() error { return h.Wait(ctx) }))
	})
}

// TestRedisHookAndThrows checks that a due throw ends the context of commands, and is the error of
// each command of a pipeline, and that clean-up commands are sent.
func TestRedisHookAndThrows(t *testing.T) {
	at := redisd.address(t)
	_, loop := tasktest.OneSlot(t)
	c := redis.NewClient(&redis.Options{Addr: at})
	defer c.Close()
	c.AddHook(recipes.RedisHook{})
	ctx := context.Background()
	tasktest.Must(t, c.Set(ctx, "lock", 1, 0).Err())
	var inPipe *redis.StringCmd
	err := loop.Run(ctx, "job", func(ctx context.Context) error {
		defer c.Del(context.WithoutCancel(ctx), "lock")
		cocoon.TaskOf(ctx).Cancel()
		if err := c.Set(ctx, "refused", 1, 0).Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("a command with a throw due: %v", err)
		}
		_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error { inPipe = p.Get(ctx, "lock"); return nil })
		if !errors.Is(err, context.Canceled) || !errors.Is(inPipe.Err(), context.Canceled) {
			t.Errorf("a pipeline with a throw due: %v; its command: %v", err, inPipe.Err())
		}
		cocoon.SafePoint(ctx)
		return nil
	})
	if !errors.Is(err, cocoon.ErrCancelled) {
		t.Error(err)
	}
	if n := c.Exists(ctx, "lock", "refused").Val(); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

// TestRedisWatch checks that a throw into Watch leaves no connection that watches keys, even if a
// policy throws at the moment when go-redis is about to end the watching.
func TestRedisWatch(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	throwAtCalls(t, rt)
	ctx := context.Background()
	c := redis.NewClient(&redis.Options{Addr: redisd.address(t), PoolSize: 1})
	defer c.Close()
	c.AddHook(recipes.RedisHook{})
	for i, end := range []func(ctx context.Context, tx *redis.Tx) error{
		func(context.Context, *redis.Tx) error { return nil }, // its work is done, so it may end well
		func(ctx context.Context, tx *redis.Tx) error { return tx.Get(ctx, "watched").Err() },
	} {
		err := rt.Run(ctx, "job", func(ctx context.Context) error {
			return c.Watch(ctx, func(tx *redis.Tx) error {
				runLong()
				return end(ctx, tx)
			}, "watched")
		})
		var throw *cocoon.PreemptedError
		if !errors.As(err, &throw) && i > 0 {
			t.Errorf("%d: the task ended with %v; want the throw", i, err)
		}
		tasktest.Must(t, c.Incr(ctx, "watched").Err())
		if _, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Incr(ctx, "watched").Err() }); err != nil {
			t.Errorf("%d: a transaction afterwards, over the same connection: %v", i, err)
		}
	}
}

// throwAtCalls registers a policy that throws when a task called job is about to wait, after it has
// run as long as runLong.
func throwAtCalls(t *testing.T, rt *cocoon.Runtime) {
	_, err := rt.RegisterPolicy(cocoon.Policy{Name: "at-a-call", On: cocoon.OnBlock, Expr: `task.name == "job" and task.running > duration("100ms") ? throw("too long") : continue()`})
	tasktest.Must(t, err)
}

// runLong runs for 200 ms, without a safe point.
func runLong() {
	for start := time.Now(); time.Since(start) < 200*time.Millisecond; {
	}
}

// TestRedisMessages checks that messages arrive while other tasks have the slot, that the error of
// the function and the end of the subscription end the loop, and that a throw ends the wait.
func TestRedisMessages(t *testing.T) {
	c := redis.NewClient(&redis.Options{Addr: redisd.address(t)})
	defer c.Close()
	_, loop := tasktest.OneSlot(t)
	ctx := context.Background()
	sub := c.Subscribe(ctx, "a channel")
	got := make(chan string, 10)
	enough := errors.New("enough")
	receive := func(ctx context.Context) error {
		return recipes.Messages(ctx, sub, func(m *redis.Message) error {
			if got <- m.Payload; m.Payload == "last" {
				return enough
			}
			return nil
		})
	}
	waitsAside(t, loop, func(ctx context.Context) error {
		if err := receive(ctx); err != enough {
			t.Errorf("the loop ended with %v; want the function's error", err)
		}
		return nil
	}, func(ctx context.Context) error {
		tasktest.Eventually(t, "the subscription", func() bool { return c.Publish(ctx, "a channel", "first").Val() == 1 })
		return c.Publish(ctx, "a channel", "last").Err()
	})
	h := loop.Go(ctx, "receives", receive)
	tasktest.Must(t, c.Publish(ctx, "a channel", "more").Err())
	for _, want := range []string{"first", "last", "more"} {
		if m := tasktest.Receive(t, "a message", got); m != want {
			t.Errorf("got the message %q; want %q", m, want)
		}
	}
	h.Cancel()
	short, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var throw *cocoon.PreemptedError
	if err := h.Wait(short); !errors.As(err, &throw) {
		t.Errorf("the task ended with %v; want the throw", err)
	}
	tasktest.Must(t, sub.Close())
	if err := loop.Run(ctx, "last", receive); !errors.Is(err, redis.ErrClosed) {
		t.Errorf("after the end of the subscription: %v", err)
	}
}

func pgxPool(t *testing.T, size int32) *pgxpool.Pool {
	config, err := pgxpool.ParseConfig(postgres.address(t))
	tasktest.Must(t, err)
	config.MaxConns = size
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	tasktest.Must(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// TestPgxSlots checks that the calls of pgx give the slot back, also while they wait for a lock in
// the database, or for a connection.
func TestPgxSlots(t *testing.T) {
	pool := pgxPool(t, 2)
	_, loop := tasktest.OneSlot(t)
	db := recipes.Slots{Of: pool}
	ctx := context.Background()
	hold, err := pool.Acquire(ctx)
	tasktest.Must(t, err)
	_, err = hold.Exec(ctx, "select pg_advisory_lock(7)")
	tasktest.Must(t, err)
	waitsAside(t, loop, func(ctx context.Context) error {
		var none any
		return db.QueryRow(ctx, "select pg_advisory_lock(7)").Scan(&none)
	}, func(ctx context.Context) error {
		_, err := hold.Exec(ctx, "select pg_advisory_unlock(7)")
		return err
	})
	last, err := pool.Acquire(ctx)
	tasktest.Must(t, err)
	waitsAside(t, loop, func(ctx context.Context) error {
		_, err := db.Exec(ctx, "select 1")
		return err
	}, func(context.Context) error { hold.Release(); last.Release(); return nil })
}

// TestPgxInTx checks that a throw in a transaction of pgx rolls back and costs no connection.
func TestPgxInTx(t *testing.T) {
	pool := pgxPool(t, 1)
	ctx := context.Background()
	_, err := pool.Exec(ctx, "drop table if exists pgxtx; create table pgxtx (id int primary key)")
	tasktest.Must(t, err)
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	_, err = rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "job", Limit: 2 * time.Millisecond})
	tasktest.Must(t, err)
	for i := range 20 {
		err := rt.Run(ctx, "job", func(ctx context.Context) error {
			return recipes.InTx(ctx, pool, func(tx recipes.Slots) error {
				if _, err := tx.Exec(ctx, "insert into pgxtx values ($1)", i); err != nil {
					return err
				}
				spin(ctx, 20*time.Second)
				return nil
			})
		})
		var throw *cocoon.PreemptedError
		if !errors.As(err, &throw) {
			t.Fatal(err)
		}
	}
	tasktest.Must(t, rt.Run(ctx, "well", func(ctx context.Context) error {
		return recipes.InTx(ctx, pool, func(tx recipes.Slots) error {
			_, err := tx.Exec(ctx, "insert into pgxtx values (100)")
			return err
		})
	}))
	var n int
	tasktest.Must(t, pool.QueryRow(ctx, "select count(*) from pgxtx").Scan(&n))
	if n != 1 {
		t.Errorf("%d rows, want that of the transaction that committed", n)
	}
	if made := pool.Stat().NewConnsCount(); made > 6 { // see TestThrowCostsNoConnection
		t.Errorf("20 throws have cost %d connections", made-1)
	}
}

// TestPgxBeginFunc checks that a throw at a call costs no connection, although pgx.BeginFunc rolls
// back with the context of the task.
func TestPgxBeginFunc(t *testing.T) {
	pool := pgxPool(t, 1)
	ctx := context.Background()
	rt := tasktest.Start(t, cocoon.Config{})
	throwAtCalls(t, rt)
	for range 5 {
		err := rt.Run(ctx, "job", func(ctx context.Context) error {
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
				runLong()
				_, err := recipes.Slots{Of: tx}.Exec(ctx, "select 1")
				return err
			})
		})
		var throw *cocoon.PreemptedError
		if !errors.As(err, &throw) {
			t.Errorf("the task ended with %v; want the throw", err)
		}
	}
	if made := pool.Stat().NewConnsCount(); made > 2 { // the machine may be so busy that a context ends
		t.Errorf("5 throws have cost %d connections", made-1)
	}
}

// TestPgxInTxNested checks that a savepoint whose context ends before its commit is rolled back
// while the transaction around it goes on, that this costs no connection, and that the same holds
// for a section that is thrown into.
func TestPgxInTxNested(t *testing.T) {
	pool := pgxPool(t, 1)
	ctx := context.Background()
	_, err := pool.Exec(ctx, "drop table if exists pgxnested; create table pgxnested (part bool)")
	tasktest.Must(t, err)
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	_, err = rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "part", Limit: 2 * time.Millisecond})
	tasktest.Must(t, err)
	end := func() {}
	cancelled := func(ctx context.Context, f func(context.Context) error) error {
		ctx, end = context.WithCancel(ctx)
		return f(ctx)
	}
	section := func(ctx context.Context, f func(context.Context) error) error {
		_, err := cocoon.SectionContext(ctx, "part", func(ctx context.Context) (int, error) { return 0, f(ctx) })
		return err
	}
	for i, part := range []func(context.Context, func(context.Context) error) error{section, cancelled, cancelled, cancelled} {
		tasktest.Must(t, rt.Run(ctx, "job", func(ctx context.Context) error {
			return recipes.InTx(ctx, pool, func(tx recipes.Slots) error {
				err := part(ctx, func(ended context.Context) error {
					return recipes.InTx(ended, tx.Of.(pgx.Tx), func(savepoint recipes.Slots) error {
						_, err := savepoint.Exec(ctx, "insert into pgxnested values (true)")
						end()
						for start := time.Now(); ended.Err() == nil && time.Since(start) < 10*time.Second; {
						} // without a safe point, so the first to notice is the commit
						return err
					})
				})
				if err == nil {
					t.Errorf("%d: a savepoint whose context has ended was committed", i)
				}
				_, err = tx.Exec(ctx, "insert into pgxnested values (false)")
				return err
			})
		}))
	}
	var parts, whole int
	tasktest.Must(t, pool.QueryRow(ctx, "select count(*) filter (where part), count(*) filter (where not part) from pgxnested").Scan(&parts, &whole))
	if parts != 0 || whole != 4 {
		t.Errorf("%d rows of savepoints that were not committed, %d of transactions; want 0 and 4", parts, whole)
	}
	if made := pool.Stat().NewConnsCount(); made > 1 {
		t.Errorf("the savepoints have cost %d connections", made-1)
	}
}
