package cocoonhttp

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// lastAnswers is how long those that were thrown into at the end have for their 503.
const lastAnswers = time.Second

// Shutdown ends a server and then its runtime. It drains first: no new connections, and requests in flight run to their
// end. When ctx ends before that, what is left is thrown into, and answered like any throw; connections that are still not
// idle within a second after that are closed. The error is that of rt.Shutdown, which names the tasks that did not end even then; a
// request that had to be thrown into is none.
func Shutdown(ctx context.Context, srv *http.Server, rt *cocoon.Runtime) error {
	drained := srv.Shutdown(ctx)
	err := rt.Shutdown(ctx)
	if drained == nil {
		return err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastAnswers)
	defer cancel()
	if srv.Shutdown(last) != nil {
		return errors.Join(err, srv.Close())
	}
	return err
}
