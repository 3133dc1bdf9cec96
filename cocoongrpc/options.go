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

// Options are what the server's interceptors can be told; give both the same. The zero Options are
// sound. method is the call's full method, as in "/shop.Items/Get".
type Options struct {
	// Name returns a call's task name; "" runs the call outside any task. It must not take names
	// from the client: policies know only those that their author knew, and the runtime keeps each
	// for ever. nil: the full method; "unmatched" for calls that grpc.UnknownServiceHandler serves,
	// whose methods are the client's to choose (and for streams of a service without an
	// implementation, which look the same); and "" for health checks, reflection, channelz and
	// ORCA's reports, which have to go on when tasks wait, and have streams without end.
	Name func(ctx context.Context, method string) string

	// Context returns the context that the task starts from, to give it a priority or labels; what
	// it says counts before what a policy document says of the tasks of that name:
	//
	//	func(ctx context.Context, method string) context.Context {
	//		if t := metadata.ValueFromIncomingContext(ctx, "tenant"); len(t) == 1 {
	//			return cocoon.WithLabel(ctx, "tenant", t[0])
	//		}
	//		return ctx
	//	}
	//
	// nil: the call's.
	Context func(ctx context.Context, method string) context.Context

	// Refuse returns the answer to a call whose task was refused or thrown into. err is what Run
	// returned, or the handler: a *cocoon.PreemptedError, or one that wraps cocoon.ErrOverloaded,
	// cocoon.ErrShutdown or the cause of a context that ended in the queue. It runs outside the
	// task, and for a stream that waits for its client on a goroutine of its own. nil, or where it
	// returns nil: a status, see UnaryServerInterceptor.
	Refuse func(ctx context.Context, method string, err error) error

	// RetryAfter is when a refused client may come again: the RetryInfo of a status, and what tells
	// clients with a retry policy when to make a call again whose handler was not called. 0: a
	// second; negative: neither. What a policy says, throw("reason", duration("5s")), counts before
	// it.
	RetryAfter time.Duration

	// Load counts the calls, for load reports. nil: nobody does.
	Load *Load
}

// unmatched is the task name of calls whose method no service has.
const unmatched = "unmatched"

// taskless are the services whose calls are no tasks.
var taskless = []string{"/grpc.health.", "/grpc.reflection.", "/grpc.channelz.", "/xds.service.orca."}

// name returns the name of a call's task, or "" for none. known says that the server has the
// method: whatever clients send, there are only as many names as methods.
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
