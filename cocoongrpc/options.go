package cocoongrpc

import (
	"context"
	"strings"
	"time"
)

// Runner runs tasks: a *cocoon.Runtime, on its default loop, or a *cocoon.Loop.
type Runner interface {
	Run(ctx context.Context, name string, fn func(ctx context.Context) error) error
}

// Options configure the server's interceptors; give both interceptors the same Options. The zero
// value is ready to use. method is the call's full method, as in "/shop.Items/Get".
type Options struct {
	// Name returns a call's task name. If it returns "", the call runs outside any task. Name
	// should not take names from the client: the runtime keeps the first 65,536 names, and what it
	// learns about tasks of other names is lost (Stats.Unkept). If Name is nil, the name is the
	// full method, with two exceptions. Calls that grpc.UnknownServiceHandler serves are named
	// "unmatched", because the client chooses their methods (as are streams of a service without an
	// implementation, which look the same). Health checks, reflection, channelz and ORCA's reports
	// have no task, because they must go on while tasks wait, and have endless streams.
	Name func(ctx context.Context, method string) string

	// Context returns the context that the task starts from, and can give the task a priority or
	// labels. These take precedence over the priority and labels that a policy document gives to
	// tasks of that name:
	//
	//	func(ctx context.Context, method string) context.Context {
	//		if t := metadata.ValueFromIncomingContext(ctx, "tenant"); len(t) == 1 {
	//			return cocoon.WithLabel(ctx, "tenant", t[0])
	//		}
	//		return ctx
	//	}
	//
	// If Context is nil, the task starts from the call's context.
	Context func(ctx context.Context, method string) context.Context

	// Refuse returns the error for a call that was refused or thrown into. err is what Run or the
	// handler returned: a *cocoon.PreemptedError, or an error that wraps cocoon.ErrOverloaded,
	// cocoon.ErrShutdown or the cause of a context that ended in the queue. Refuse runs outside the
	// task, and on a separate goroutine for a stream that waits for its client. If Refuse is nil or
	// returns nil, the client gets the status that UnaryServerInterceptor describes.
	Refuse func(ctx context.Context, method string, err error) error

	// RetryAfter is how long a refused client should wait before it tries again. It is sent in the
	// RetryInfo of a status, and in the trailer that tells clients with a retry policy when to
	// retry a call that did not reach its handler. 0 means one second; a negative value means that
	// neither is sent. A duration that a policy gives, throw("reason", duration("5s")), overrides
	// it.
	RetryAfter time.Duration

	// Load counts the calls, for load reports. If Load is nil, calls are not counted.
	Load *Load
}

// unmatched is the task name of calls of unknown methods.
const unmatched = "unmatched"

// taskless are the services with calls that run outside any task.
var taskless = []string{"/grpc.health.", "/grpc.reflection.", "/grpc.channelz.", "/xds.service.orca."}

// name returns the name of a call's task, or "" for none. known reports that the server has the
// method: there are only as many names as methods, whatever clients send.
func (o *Options) name(ctx context.Context, method string, known bool) string {
	if o.Name != nil {
		return o.Name(ctx, method)
	}
	if !known {
		return unmatched
	}
	for _, service := range taskless {
		if strings.HasPrefix(method, service) {
			return ""
		}
	}
	return method
}
