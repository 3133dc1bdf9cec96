package cocoongrpc

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/cocoon-go/cocoon/cocoon"
)

// domain is the domain of the reasons in an ErrorInfo.
const domain = "github.com/cocoon-go/cocoon"

// timeLimits is the prefix of the names of policies that limit time: policies of policy.TimeLimit,
// of limits in a document, and any other policy that should result in the same status.
const timeLimits = "time-limit/"

// pushback is the trailer by which a server tells clients with a retry policy when to retry, in ms;
// a negative number means never (gRFC A6).
const pushback = "grpc-retry-pushback-ms"

// refuse returns the error for a call that was refused or thrown into. ctx is the call's; started
// reports that its handler has begun. A client must not retry such a call blindly, whatever the
// status, because the handler may have done half of its work.
func (s *server) refuse(ctx context.Context, method string, thrown error, started bool) error {
	if started {
		halfDone(ctx)
	}
	if s.options.Refuse != nil {
		if err := s.options.Refuse(ctx, method, thrown); err != nil {
			return err
		}
	}
	st := s.options.statusOf(ctx, thrown)
	if again, ok := s.options.again(st.Code(), thrown); ok && !started {
		ms := again.Milliseconds()
		if again%time.Millisecond != 0 {
			ms++
		}
		grpc.SetTrailer(ctx, metadata.Pairs(pushback, strconv.FormatInt(ms, 10)))
	}
	return st.Err()
}

// halfDone tells clients with a retry policy not to retry this call.
func halfDone(ctx context.Context) {
	// It fails only without a stream, as in a test of a handler.
	grpc.SetTrailer(ctx, metadata.Pairs(pushback, "-1"))
}

// statusOf returns the status for a throw or a refusal.
func (o *Options) statusOf(ctx context.Context, thrown error) *status.Status {
	code, reason, message := classify(ctx, thrown)
	info := &errdetails.ErrorInfo{Reason: reason, Domain: domain, Metadata: map[string]string{}}
	var p *cocoon.PreemptedError
	if errors.As(thrown, &p) {
		if p.Reason != "" {
			message += ": " + p.Reason
		}
		info.Metadata["started"] = strconv.FormatBool(p.Started)
		for key, value := range map[string]string{"policy": p.Policy, "reason": p.Reason, "task": p.Task, "section": p.Section} {
			if value != "" {
				info.Metadata[key] = value
			}
		}
	}
	details := []protoadapt.MessageV1{info}
	if again, ok := o.again(code, thrown); ok {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(again)})
	}
	plain := status.New(code, message)
	detailed, err := plain.WithDetails(details...)
	if err != nil {
		return plain // a reason's text is not valid UTF-8
	}
	return detailed
}

// again returns when a client that got this code for the throw should retry, and whether a retry
// may help.
func (o *Options) again(code codes.Code, thrown error) (after time.Duration, ok bool) {
	if p := (*cocoon.PreemptedError)(nil); errors.As(thrown, &p) && p.RetryAfter > 0 && code != codes.Canceled {
		return p.RetryAfter, true
	}
	ok = o.RetryAfter >= 0 && (code == codes.ResourceExhausted || code == codes.Unavailable)
	return cmp.Or(o.RetryAfter, time.Second), ok
}

// classify returns the error for the client. For a throw, that includes the reason, but not the
// place in the program that PreemptedError.Error names.
func classify(ctx context.Context, thrown error) (code codes.Code, reason, message string) {
	var p *cocoon.PreemptedError
	errors.As(thrown, &p)
	switch {
	case errors.Is(thrown, cocoon.ErrShutdown):
		return codes.Unavailable, "SHUTDOWN", "the server shuts down"
	case errors.Is(thrown, cocoon.ErrOverloaded):
		return codes.ResourceExhausted, "OVERLOADED", "the call was refused: too many wait"
	case errors.Is(thrown, cocoon.ErrCancelled):
		return codes.Canceled, "CANCELLED", "the call was cancelled by the server"
	case p == nil || ctx.Err() != nil:
		return ended(ctx, thrown), "CALL_ENDED", "the call had ended"
	case strings.HasPrefix(p.Policy, timeLimits):
		return codes.DeadlineExceeded, "TIME_LIMIT", "the call was stopped"
	case p.Started:
		return codes.ResourceExhausted, "THROWN", "the call was stopped"
	default:
		return codes.ResourceExhausted, "REFUSED", "the call was refused"
	}
}

// ended returns the code for a call after the end of its context, or of the context that
// Options.Context derived from it.
func ended(ctx context.Context, thrown error) codes.Code {
	if err := ctx.Err(); err != nil {
		thrown = err
	}
	return status.FromContextError(thrown).Code()
}
