package cocoonhttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonhttp"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// The log line that docs/operate.md has the server write leads from the id of a refused request to
// the branch of the policy and its values.
func TestLineOfARefusal(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	_, err := rt.RegisterPolicy(cocoon.Policy{
		Name: "spent", On: cocoon.OnEnqueue, State: map[string]any{"spent": 131},
		Expr: `arriving.labels.plan == "free" and state.spent > 100 ? throw("too much") : continue()`,
	})
	tasktest.Must(t, err)
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	handler := cocoonhttp.Middleware(rt, cocoonhttp.Options{
		Context: func(r *http.Request) context.Context {
			return cocoon.WithLabel(r.Context(), "plan", r.Header.Get("X-Plan"))
		},
		Refuse: func(w http.ResponseWriter, r *http.Request, err error) {
			logger.Warn("request refused", "request", r.Header.Get("X-Request-Id"), "err", err)
			w.WriteHeader(http.StatusServiceUnavailable)
		},
	})(http.NotFoundHandler())
	r := httptest.NewRequest("GET", "/report", nil)
	r.Header.Set("X-Request-Id", "req-7f3a")
	r.Header.Set("X-Plan", "free")
	handler.ServeHTTP(httptest.NewRecorder(), r)
	var line struct {
		Request string
		Err     struct {
			Branch  string
			Because []string
			Values  map[string]any
		}
	}
	tasktest.Must(t, json.Unmarshal(log.Bytes(), &line))
	if line.Request != "req-7f3a" || line.Err.Branch != `policy.expr:1:56: throw("too much")` || len(line.Err.Because) != 1 ||
		line.Err.Because[0] != `arriving.labels.plan == "free" and state.spent > 100 is true` ||
		line.Err.Values["state.spent"] != 131.0 || line.Err.Values[`arriving.labels["plan"]`] != "free" {
		t.Errorf("%s", log.String())
	}
}
