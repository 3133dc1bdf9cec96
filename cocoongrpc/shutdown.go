package cocoongrpc

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/cocoon-go/cocoon/cocoon"
)

// lastAnswers is how long the answers of those that were thrown into at the end have to get out.
const lastAnswers = time.Second

// Shutdown ends a server and then its runtime. It drains first: no new connections and calls, and
// those in flight run to their end. When ctx ends before that, what is left is thrown into, and
// answered Unavailable; connections that are still in use a second after that are closed. The error
// is that of rt.Shutdown, which names the tasks that did not end even then; a call that had to be
// thrown into is none.
//
// Streams that are no tasks and have no end (health watches, ORCA's reports) keep their connections
// in use, as they do in grpc.Server.GracefulStop: until their client ends them, or ctx and that
// second are over.
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
	last := time.NewTimer(lastAnswers)
	defer last.Stop()
	select {
	case <-drained:
	case <-last.C:
		go srv.Stop() // it may have to wait for the lock that GracefulStop has until the last handler ends
	}
	return err
}
