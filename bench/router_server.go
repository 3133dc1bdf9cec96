package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonhttp"
)

// guidePolicies is the policy document of docs/guide.md.
const guidePolicies = `version: 1

tasks:
  GET /items/{id}: safe        # may run while a report is suspended
  GET /report: preemptible     # may be suspended between two rows

preemption:
  on: enqueue                  # an arriving item preempts the running reports

limits:
  - func: GET /report
    limit: 500ms               # of running time, not of waiting time
    reason: the report is too long

policies:
  - name: too-many-reports
    on: enqueue
    expr: |
      arriving.name == "GET /report" and queue.oldest > duration("2s")
        ? throw("too many reports") : continue()
`

// routerConfig is the configuration of a server process.
type routerConfig struct {
	Router string // chi or gin
	Kind   string // plainServer or policiesServer
}

// serveRouter is the body of the server process.
func serveRouter(c routerConfig) error {
	around := func(func(*http.Request) string) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler { return next }
	}
	if c.Kind == policiesServer {
		rt, err := cocoon.New(cocoon.Config{})
		if err != nil {
			return err
		}
		if err := rt.LoadPolicies(strings.NewReader(guidePolicies)); err != nil {
			return err
		}
		around = func(name func(*http.Request) string) func(http.Handler) http.Handler {
			return cocoonhttp.Middleware(rt, cocoonhttp.Options{Name: name})
		}
	}
	handlers := map[string]func(middlewareNamed) http.Handler{"chi": chiItems, "gin": ginItems}
	return serveHandler(handlers[c.Router](around))
}

// middlewareNamed returns Cocoon's middleware with the given function for task names, or no
// middleware.
type middlewareNamed = func(name func(*http.Request) string) func(http.Handler) http.Handler

// item is the resource of the servers.
type item struct {
	ID    string   `json:"id"`
	Name  string   `json:"name"`
	Price float64  `json:"price"`
	Tags  []string `json:"tags"`
	Stock int      `json:"stock"`
}

// items is the store.
var items = func() map[string]item {
	all := map[string]item{}
	for i := range 1000 {
		id := fmt.Sprint(1000 + i)
		all[id] = item{id, "thing " + id, 1.5, []string{"blue", "small"}, 7}
	}
	return all
}()

// chiItems returns a server as the guide shows it for chi.
func chiItems(cocoon middlewareNamed) http.Handler {
	m := chi.NewRouter()
	m.Use(middleware.Recoverer)
	m.Group(func(m chi.Router) { // in a group the route is known when the middleware is called
		m.Use(cocoon(func(r *http.Request) string {
			return r.Method + " " + chi.RouteContext(r.Context()).RoutePattern()
		}))
		m.Get("/items/{id}", func(w http.ResponseWriter, r *http.Request) {
			found, ok := items[chi.URLParam(r, "id")]
			if !ok {
				http.Error(w, "no such item", http.StatusNotFound)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(found)
		})
		m.Get("/report", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("no report today")) })
	})
	return m
}

// ginItems returns a server as the guide shows it for gin.
func ginItems(cocoon middlewareNamed) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.Use(gin.Recovery())
	engine.GET("/items/:id", func(c *gin.Context) {
		found, ok := items[c.Param("id")]
		if !ok {
			c.String(http.StatusNotFound, "no such item")
			return
		}
		c.JSON(http.StatusOK, found)
	})
	engine.GET("/report", func(c *gin.Context) { c.String(http.StatusOK, "no report today") })
	return cocoon(ginNames(engine))(engine)
}

var ginParameter = regexp.MustCompile(`[:*](\w+)`)

// ginNames returns the guide's function that names a request by its route.
func ginNames(engine *gin.Engine) func(*http.Request) string {
	mux := http.NewServeMux()
	for _, route := range engine.Routes() {
		path := ginParameter.ReplaceAllStringFunc(route.Path, func(p string) string {
			if p[0] == '*' {
				return "{" + p[1:] + "...}"
			}
			return "{" + p[1:] + "}"
		})
		mux.Handle(route.Method+" "+path, http.NotFoundHandler())
	}
	return func(r *http.Request) string {
		if _, pattern := mux.Handler(r); pattern != "" {
			return pattern
		}
		return "unmatched"
	}
}
