package cocoongrpc

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/cocoon-go/cocoon/cocoon"
)

// lastResponses is how long the statuses of calls that were thrown into at the end have to be sent.
const lastResponses = time.Second

// Shutdown shuts down a server and then its runtime. It drains first: the server accepts no new
// connections and calls, and calls in flight run to completion. If ctx ends before that, the
// remaining calls are thrown into, with the status Unavailable. Connections still in use a second
// later are closed. Shutdown returns the error of rt.Shutdown, which names the tasks that had not
// ended even then; a call that had to be thrown into is not an error.
//
// Endless streams outside tasks (health watches, ORCA's reports) keep their connections in use, as
// they do in grpc.Server.GracefulStop, until their client ends them, or until ctx has ended and the
// additional second is over.
func Shutdown(ctx context.Context, srv *grpc.Server, rt *cocoon.Runtime) error {
	drained := make(chan struct{})
	go func() {
		srv.GracefulStop()
		close(drained)
	}()
	select {
	case <-drained:
		return rt.Shutdown(ctx)
	case <-ctx.Done():
	}
	err := rt.Shutdown(ctx)
	last := time.NewTimer(lastResponses)
	defer last.Stop()
	select {
	case <-drained:
	case <-last.C:
		// It may wait for the lock that GracefulStop holds until the last handler returns.
		go srv.Stop()
	}
	return err
}
