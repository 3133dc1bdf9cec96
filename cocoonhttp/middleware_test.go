package cocoonhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// TestName checks that a task has the name of the pattern, wherever the middleware stands, and
// never a name from the client.
func TestName(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	tell := func(w http.ResponseWriter, r *http.Request) {
		task := cocoon.TaskOf(r.Context())
		fmt.Fprintf(w, "%s|%s|%s", task.Name(), r.Pattern, r.PathValue("id"))
	}
	mux := func(patterns ...string) *http.ServeMux {
		m := http.NewServeMux()
		for _, p := range patterns {
			m.HandleFunc(p, tell)
		}
		return m
	}
	with := Middleware(rt, Options{})
	inside := http.NewServeMux()
	inside.Handle("GET /items/{id}", with(http.HandlerFunc(tell)))
	nested := http.NewServeMux()
	nested.Handle("/api/", with(http.StripPrefix("/api", mux("GET /items/{id}"))))
	for _, c := range []struct {
		name    string
		handler http.Handler
		method  string
		path    string
		want    string // in the body, or its status
	}{
		{"around a mux", with(mux("GET /items/{id}")), "GET", "/items/7", "GET /items/{id}|GET /items/{id}|7"},
		{"no method", with(mux("/items/")), "PUT", "/items/7", "/items/|/items/|"},
		{"inside a mux", inside, "GET", "/items/7", "GET /items/{id}|GET /items/{id}|7"},
		{"mux in mux", nested, "GET", "/api/items/7", "/api/|GET /items/{id}|7"},
		{"no wildcard", with(mux("GET /a/{$}", "GET /a/b")), "GET", "/a/b", "GET /a/b|GET /a/b|"},
		{"redirected", with(mux("GET /tree/")), "GET", "/tree", "<a href=\"/tree/\">Temporary Redirect</a>.\n\n"},
		{"no such request", with(mux("/")), "GET", "*", ""},
		{"no mux", with(http.HandlerFunc(tell)), "GET", "/items/7", "unmatched||"},
		{"an odd method", with(http.HandlerFunc(tell)), "EVIL", "/x", "unmatched||"},
		{"chosen", Middleware(rt, Options{Name: func(r *http.Request) string { return "it" }})(mux("/")), "GET", "/", "it|/|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := httptest.NewRecorder()
			r := httptest.NewRequest(c.method, strings.Replace(c.path, "*", "/", 1), nil)
			r.RequestURI = c.path
			c.handler.ServeHTTP(rec, r)
			if got := rec.Body.String(); got != c.want {
				t.Errorf("got %q; want %q", got, c.want)
			}
		})
	}
	h := with(mux("/tree/{x}/")).(*handler)
	for path, want := range map[string]string{"/nothing": unmatched, "/tree/evil": "/tree/{x}/", "//tree/a/../evil/": "/tree/{x}/"} {
		if got, _ := h.route(httptest.NewRequest("GET", path, nil)); got != want {
			t.Errorf("%s: named %q; want %q", path, got, want)
		}
	}
	r := httptest.NewRequest("GET", "/tree/evil", nil)
	r.Method = "CONNECT"
	if got, _ := h.route(r); got != unmatched {
		t.Errorf("a path of the client's is the name of a task: %q", got)
	}
}

// TestPatternOfTheRefused checks that a refused request has its pattern, for middleware that logs
// or counts it.
func TestPatternOfTheRefused(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	_, err := rt.RegisterPolicy(cocoon.Policy{Name: "closed", On: cocoon.OnEnqueue, Expr: `throw("closed")`})
	tasktest.Must(t, err)
	mux := http.NewServeMux()
	for _, p := range []string{"GET /static", "GET /items/{id}"} {
		mux.HandleFunc(p, func(http.ResponseWriter, *http.Request) { t.Error("the handler was called") })
	}
	for path, want := range map[string]string{"/static": "GET /static", "/items/7": "GET /items/{id}", "/none": ""} {
		refused := ""
		h := Middleware(rt, Options{Refuse: func(_ http.ResponseWriter, r *http.Request, _ error) { refused = r.Pattern }})(mux)
		r := httptest.NewRequest("GET", path, nil)
		if h.ServeHTTP(httptest.NewRecorder(), r); r.Pattern != want || refused != want {
			t.Errorf("%s: the pattern is %q, and %q for Refuse; want %q", path, r.Pattern, refused, want)
		}
	}
}

// TestNoTask checks that a request with an empty task name runs outside any task: it gets its
// response while tasks wait.
func TestNoTask(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, StallAfter: -1})
	defer full(t, rt)()
	h := Middleware(rt, Options{Name: func(r *http.Request) string { return strings.TrimPrefix(r.URL.Path, "/healthz") }})
	rec := httptest.NewRecorder()
	h(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, cocoon.TaskOf(r.Context()) == nil)
	})).ServeHTTP(rec, httptest.NewRequest("GET", "/healthz", nil))
	if rec.Body.String() != "true" {
		t.Errorf("%d %q", rec.Code, rec.Body)
	}
}

// TestContext checks that the context sets priority and labels.
func TestContext(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	_, err := rt.RegisterPolicy(cocoon.Policy{Name: "no-guests", On: cocoon.OnEnqueue,
		Expr: `arriving.labels["user"] == "guest" and arriving.priority < 3 ? throw("no guests") : continue()`})
	tasktest.Must(t, err)
	h := Middleware(rt, Options{Context: func(r *http.Request) context.Context {
		return cocoon.WithPriority(cocoon.WithLabel(r.Context(), "user", r.URL.Query().Get("user")), int32(len(r.URL.Path)))
	}})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	for path, want := range map[string]int{"/?user=guest": 503, "/long?user=guest": 200, "/?user=ann": 200} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
		if rec.Code != want {
			t.Errorf("%s: status %d; want %d", path, rec.Code, want)
		}
	}
}

// TestDocument checks that a document sets a route's kind, priority and labels, and that the
// context of a request takes precedence.
func TestDocument(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	tasktest.Must(t, rt.LoadPolicies(strings.NewReader(`
version: 1
tasks:
  GET /items/{id}: {kind: safe, priority: 2, labels: {tenant: shop}}
  GET /report: {priority: -1}
policies:
  - name: tell
    on: enqueue
    expr: |
      if arriving.labels.tenant == "shop" and arriving.kind == "safe" and arriving.priority == 2 {
        throw("an item of the shop")
      } else if arriving.labels.tenant == "mine" and arriving.priority == 2 {
        throw("an item of mine")
      } else if arriving.priority == -1 {
        throw("a report")
      } else {
        continue()
      }
`)))
	mux := http.NewServeMux()
	for _, pattern := range []string{"GET /items/{id}", "GET /report", "GET /other"} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "served") })
	}
	s := serve(t, Middleware(rt, Options{
		Context: func(r *http.Request) context.Context {
			return cocoon.WithLabel(r.Context(), "tenant", r.FormValue("tenant"))
		},
		Refuse: func(w http.ResponseWriter, _ *http.Request, err error) {
			var p *cocoon.PreemptedError
			errors.As(err, &p)
			io.WriteString(w, p.Reason)
		},
	})(mux))
	for path, want := range map[string]string{
		"/items/7": "an item of the shop", "/items/7?tenant=mine": "an item of mine", "/items/7?tenant=other": "served",
		"/report": "a report", "/report?tenant=shop": "a report", "/other?tenant=shop": "served",
	} {
		if _, got := get(t, s, path); got != want {
			t.Errorf("%s: %q; want %q", path, got, want)
		}
	}
}

// full fills the one slot and the queue of a runtime until release is called.
func full(t *testing.T, rt *cocoon.Runtime) (release func()) {
	gate, running := make(chan struct{}), make(chan struct{})
	holder := rt.Go(context.Background(), "holder", func(context.Context) error { close(running); return tasktest.KeepSlot(gate) })
	tasktest.Receive(t, "the slot", running)
	waiting := rt.Go(context.Background(), "waiting", func(context.Context) error { return nil })
	tasktest.Eventually(t, "the queue", func() bool { return rt.Loop().Stats().Queued == 1 })
	return func() {
		close(gate)
		tasktest.Must(t, errors.Join(holder.Wait(context.Background()), waiting.Wait(context.Background())))
	}
}

// TestRefused checks that whatever keeps a task from starting results in a 503, and that Refuse
// gets the error.
func TestRefused(t *testing.T) {
	var seen error
	options := func(o Options) Options {
		o.Refuse = func(w http.ResponseWriter, r *http.Request, err error) {
			seen = err
			http.Error(w, `{"error":"busy"}`, http.StatusTooManyRequests)
		}
		return o
	}
	never := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the handler was called") })
	ask := func(rt Runner, o Options, ctx context.Context) *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		rec.Header().Set("X-Outer", "stays")
		Middleware(rt, o)(never).ServeHTTP(rec, httptest.NewRequestWithContext(ctx, "GET", "/", nil))
		if rec.Header().Get("X-Outer") != "stays" {
			t.Error("the header of an outer middleware was lost")
		}
		return rec
	}
	background := context.Background()
	t.Run("overloaded", func(t *testing.T) {
		rt := tasktest.Start(t, cocoon.Config{Slots: 1, MaxQueue: 1, StallAfter: -1})
		defer full(t, rt)()
		rec := ask(rt, Options{}, background)
		if rec.Code != 503 || rec.Header().Get("Retry-After") != "1" || rec.Body.String() != "Service Unavailable\n" {
			t.Errorf("the default is %d %v %q", rec.Code, rec.Header(), rec.Body)
		}
		rec = ask(rt, options(Options{RetryAfter: 1100 * time.Millisecond}), background)
		if rec.Code != 429 || rec.Header().Get("Retry-After") != "2" || !errors.Is(seen, cocoon.ErrOverloaded) {
			t.Errorf("%d %v %v", rec.Code, rec.Header(), seen)
		}
		if rec = ask(rt, options(Options{RetryAfter: -1}), background); rec.Header().Get("Retry-After") != "" {
			t.Errorf("unwanted: %v", rec.Header())
		}
	})
	t.Run("as the policy says", func(t *testing.T) {
		rt := tasktest.Start(t, cocoon.Config{Slots: 1})
		if _, err := rt.RegisterPolicy(cocoon.Policy{Name: "shed", On: policy.On(stubs.Enqueue),
			Expr: `throw("busy", duration("1ns") * int(arriving.labels.wait))`}); err != nil {
			t.Fatal(err)
		}
		for wait, want := range map[time.Duration]string{0: "1", -time.Hour: "1", 1: "1", 2 * time.Second: "2", 2*time.Second + 1: "3", math.MaxInt64: "86400"} {
			ctx := cocoon.WithLabel(background, "wait", fmt.Sprint(int64(wait)))
			if got := ask(rt, Options{}, ctx).Header().Get("Retry-After"); got != want {
				t.Errorf("the policy says %v, the header %q; want %q", wait, got, want)
			}
			if got := ask(rt, Options{RetryAfter: -1}, ctx).Header().Get("Retry-After"); wait > 0 && got != want || wait <= 0 && got != "" {
				t.Errorf("without a header by default: %q", got)
			}
		}
	})
	t.Run("in the queue", func(t *testing.T) {
		rt := tasktest.Start(t, cocoon.Config{Slots: 1, StallAfter: -1})
		defer full(t, rt)()
		ctx, cancel := context.WithTimeout(background, time.Millisecond)
		defer cancel()
		if rec := ask(rt, options(Options{}), ctx); rec.Code != 429 || !errors.Is(seen, context.DeadlineExceeded) {
			t.Errorf("%d %v", rec.Code, seen)
		}
	})
	t.Run("shut down", func(t *testing.T) {
		rt := tasktest.Start(t, cocoon.Config{})
		tasktest.Must(t, rt.Shutdown(background))
		if rec := ask(rt, options(Options{}), background); rec.Code != 429 || !errors.Is(seen, cocoon.ErrShutdown) {
			t.Errorf("%d %v", rec.Code, seen)
		}
	})
	t.Run("by a policy", func(t *testing.T) {
		rt := tasktest.Start(t, cocoon.Config{})
		_, err := rt.RegisterPolicy(cocoon.Policy{Name: "closed", On: cocoon.OnEnqueue, Expr: `throw("closed today")`})
		tasktest.Must(t, err)
		var p *cocoon.PreemptedError
		if rec := ask(rt, options(Options{}), background); rec.Code != 429 || !errors.As(seen, &p) || p.Reason != "closed today" || p.Started {
			t.Errorf("%d %v", rec.Code, seen)
		}
	})
}

// TestRequestOutside checks that surrounding middleware sees what the handler has learned about the
// request, and that the server removes the files of a form.
func TestRequestOutside(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	mux := http.NewServeMux()
	var file string
	mux.HandleFunc("POST /form", func(w http.ResponseWriter, r *http.Request) {
		tasktest.Must(t, r.ParseMultipartForm(1))
		f, err := r.MultipartForm.File["f"][0].Open()
		tasktest.Must(t, err)
		defer f.Close()
		if onDisk, ok := f.(*os.File); ok {
			file = onDisk.Name()
		}
	})
	var pattern string
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Middleware(rt, Options{})(mux).ServeHTTP(w, r)
		pattern = r.Pattern
	}))
	pr, pw := io.Pipe()
	form := multipart.NewWriter(pw)
	go func() {
		part, _ := form.CreateFormFile("f", "f.txt")
		io.WriteString(part, strings.Repeat("x", 1<<20))
		pw.CloseWithError(form.Close())
	}()
	resp, err := s.Client().Post(s.URL+"/form", form.FormDataContentType(), pr)
	tasktest.Must(t, err)
	resp.Body.Close()
	if file == "" || pattern != "POST /form" {
		t.Fatalf("file %q, pattern %q", file, pattern)
	}
	tasktest.Eventually(t, "the server to remove the file", func() bool { _, err := os.Stat(file); return errors.Is(err, os.ErrNotExist) })
}

func TestMisuse(t *testing.T) {
	for name, f := range map[string]func(){
		"the runtime is nil": func() { Middleware(nil, Options{}) },
		"the handler is nil": func() { Middleware(tasktest.Start(t, cocoon.Config{}), Options{})(nil) },
	} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, name) {
					t.Errorf("%s: panicked with %q", name, r)
				}
			}()
			f()
		}()
	}
}
