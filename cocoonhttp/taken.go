package cocoonhttp

import (
	"context"
	"net/http"
	"sync"

	"github.com/cocoon-go/cocoon/cocoon"
)

// taken are the tasks that have taken over a connection, by server. The server no longer knows
// these connections, so Shutdown ends the tasks.
var taken struct {
	mu sync.Mutex
	of map[*http.Server]map[*cocoon.Task]bool
}

// take records that the task of ctx is about to take over the request's connection. The caller
// calls forget if it does not.
func take(ctx context.Context, r *http.Request) (forget func()) {
	task := cocoon.TaskOf(ctx)
	srv, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
	if task == nil || srv == nil {
		return func() {}
	}
	taken.mu.Lock()
	defer taken.mu.Unlock()
	if taken.of == nil {
		taken.of = map[*http.Server]map[*cocoon.Task]bool{}
	}
	if taken.of[srv] == nil {
		taken.of[srv] = map[*cocoon.Task]bool{}
	}
	taken.of[srv][task] = true
	forget = func() {
		taken.mu.Lock()
		defer taken.mu.Unlock()
		if delete(taken.of[srv], task); len(taken.of[srv]) == 0 {
			delete(taken.of, srv)
		}
	}
	context.AfterFunc(ctx, forget) // the context ends with the task
	return forget
}

// cancelTaken cancels the tasks that have taken over connections of the server.
func cancelTaken(srv *http.Server) {
	taken.mu.Lock()
	var tasks []*cocoon.Task
	for task := range taken.of[srv] {
		tasks = append(tasks, task)
	}
	taken.mu.Unlock()
	for _, task := range tasks {
		task.Cancel()
	}
}
