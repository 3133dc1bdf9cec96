package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// microProcs shows why a runtime has cocoon.SparePs more Ps than slots. It measures the time of an
// echo over loopback, as a client in another process sees it, while polling tasks take all slots
// and a policy is evaluated every 100 µs, with zero, one, and two spare Ps. The echo is plain Go: a
// goroutine that reads and writes.
func microProcs(ctx context.Context, r *report, e effort) error {
	got, err := medians(ctx, e, echoSide(0), echoSide(1), echoSide(2))
	if err != nil {
		return err
	}
	for spare, f := range got {
		for i, metric := range []string{"p50", "p99"} {
			x := result{Name: "procs", Metric: fmt.Sprintf("spare%d_%s", spare, metric), Value: f[i], Unit: "µs"}
			if spare > 0 {
				x.Peer, x.PeerValue = "no spare P", got[0][i]
			}
			r.add(x, claim{})
		}
	}
	return nil
}

func echoSide(spare int) side {
	return func(ctx context.Context, e effort) (figures, error) {
		slots := runtime.GOMAXPROCS(0)
		return withProcs(slots+spare, func() (figures, error) {
			return withRuntime(cocoon.Config{Slots: slots, KeepProcs: true}, func(rt *cocoon.Runtime) (figures, error) {
				p := cocoon.Policy{Name: "look", On: cocoon.Every(tickEvery), Expr: `task.running > duration("1h") ? throw("an hour") : continue()`}
				if _, err := rt.RegisterPolicy(p); err != nil {
					return nil, err
				}
				stop, err := spin(ctx, rt, slots, "busy")
				if err != nil {
					return nil, err
				}
				defer stop()
				return echoes(ctx, e)
			})
		})
	}
}

// echoes starts a client, serves it, and returns its measurement.
func echoes(ctx context.Context, e effort) (f figures, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return // closed: there was no client
		}
		defer conn.Close()
		for buffer := make([]byte, 1); ; {
			if _, err := conn.Read(buffer); err != nil {
				return // the client has ended
			}
			if _, err := conn.Write(buffer); err != nil {
				return
			}
		}
	}()
	client, err := loadtest.Start(ctx, "echo", echoConfig{listener.Addr().String(), e.span}, nil, nil, os.Stderr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.Stop()) }()
	return f, client.Receive(&f)
}

// echoConfig is the configuration of the client of an echo.
type echoConfig struct {
	Address string
	Span    time.Duration
}

// echoClient is the other process: it sends a byte each millisecond, or when the previous byte is
// back, and prints the quantiles of the round-trip times.
func echoClient(c echoConfig) error {
	conn, err := net.Dial("tcp", c.Address)
	if err != nil {
		return err
	}
	var took []float64
	buffer := make([]byte, 1)
	for begin := time.Now(); time.Since(begin) < c.Span || len(took) < 100; time.Sleep(time.Millisecond) {
		at := time.Now()
		if _, err := conn.Write(buffer); err != nil {
			return errors.Join(err, conn.Close())
		}
		if _, err := conn.Read(buffer); err != nil {
			return errors.Join(err, conn.Close())
		}
		took = append(took, float64(time.Since(at))/1e3)
	}
	f, err := quantiles(took)
	return errors.Join(err, json.NewEncoder(os.Stdout).Encode(f), conn.Close())
}
