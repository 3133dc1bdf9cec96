package recipes

import (
	"context"
	"net"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/redis/go-redis/v9"
)

// RedisHook gives a task's slot back while the task waits for Redis, or for a connection to it:
// client.AddHook(RedisHook{}).
type RedisHook struct{}

func (RedisHook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (conn net.Conn, err error) {
		err = cocoon.BlockCall(ctx, func() error {
			conn, err = next(ctx, network, addr)
			return err
		})
		return conn, err
	}
}

func (RedisHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "unwatch" { // clean-up: without it the connection goes back watching keys
			ctx = context.WithoutCancel(ctx)
		}
		return send(ctx, func() error { return next(ctx, cmd) }, cmd)
	}
}

func (RedisHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return send(ctx, func() error { return next(ctx, cmds) }, cmds...)
	}
}

func send(ctx context.Context, next func() error, cmds ...redis.Cmder) error {
	called := false
	err := cocoon.BlockCall(ctx, func() error { called = true; return next() })
	if !called { // no command was sent: set the error of each
		for _, cmd := range cmds {
			cmd.SetErr(err)
		}
	}
	return err
}

// Messages calls f with each message of a subscription, until f fails or ctx ends: a throw ends it.
// It takes the place of Receive and ReceiveMessage, which heed a deadline of their context but not
// its end, so that no throw would end their wait.
func Messages(ctx context.Context, of *redis.PubSub, f func(*redis.Message) error) error {
	messages := of.Channel()
	for {
		var m *redis.Message
		err := cocoon.Block(ctx, func() error {
			select {
			case m = <-messages:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		if err != nil {
			return err
		}
		if m == nil {
			return redis.ErrClosed
		}
		if err := f(m); err != nil {
			return err
		}
	}
}
