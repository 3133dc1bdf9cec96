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
