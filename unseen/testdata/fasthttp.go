package fasthttp_test

import (
	"context"
	"fmt"
	"net"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"
)

// The client has few connections: each that a throw loses is missed.
func init() {
	var client *fasthttp.HostClient
	victim.Run(func(context.Context) (any, error) {
		if client == nil {
			l := fasthttputil.NewInmemoryListener()
			go fasthttp.Serve(l, func(ctx *fasthttp.RequestCtx) { fmt.Fprintf(ctx, "answer to %s", ctx.Path()) })
			client = &fasthttp.HostClient{Addr: "unseen", MaxConns: 4, Dial: func(string) (net.Conn, error) { return l.Dial() }}
		}
		sum := 0
		for i := range 300 {
			status, body, err := client.Get(nil, fmt.Sprint("http://unseen/", i))
			if err != nil {
				return nil, err
			}
			sum += status + len(body)
		}
		return sum, nil
	})
}
