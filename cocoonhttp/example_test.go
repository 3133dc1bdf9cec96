package cocoonhttp_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonhttp"
)

// Each request is a task with the name of its route. The document lets items overtake reports, and
// stops a report that runs too long.
func ExampleMiddleware() {
	rt, err := cocoon.New(cocoon.Config{QuietThrows: true})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Shutdown(context.Background())
	err = rt.LoadPolicies(strings.NewReader(`
version: 1
tasks:
  GET /items/{id}: safe        # may run while a report is suspended
  GET /report: preemptible
preemption:
  on: enqueue                  # an arriving item preempts a report
limits:
  - {func: GET /report, limit: 20ms, reason: the report is too long}
`))
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{id}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "item ", r.PathValue("id"))
	})
	mux.HandleFunc("GET /report", func(w http.ResponseWriter, r *http.Request) {
		for { // too many rows
			cocoon.SafePoint(r.Context())
		}
	})
	srv := httptest.NewServer(cocoonhttp.Middleware(rt, cocoonhttp.Options{})(mux))
	defer srv.Close()
	for _, path := range []string{"/items/7", "/report"} {
		resp, err := http.Get(srv.URL + path)
		if err != nil {
			log.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		fmt.Println(path, resp.StatusCode, strings.TrimSpace(string(body)))
	}
	// Output:
	// /items/7 200 item 7
	// /report 503 Service Unavailable
}
