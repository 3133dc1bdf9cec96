package cocoondebug

import (
	"crypto/rand"
	"embed"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// Options are the options of a Handler. The zero value is a page that changes nothing.
type Options struct {
	// Actions lets operators cancel a task, put a policy into another mode, and load a document. An
	// action needs a POST from the page's own origin, and the token. The handler logs each action,
	// and the stream of decisions records it.
	Actions bool

	// Token is the secret that operators enter for an action: at least 16 bytes that cannot be
	// guessed. If it is "", Handler generates one and logs it.
	Token string

	// Documents are the files that operators may load, by the names passed to LoadPolicyFile.
	// Before the page loads a file, it shows what would change.
	Documents []string

	// Logger gets a line for each action, done or refused. nil means slog.Default().
	Logger *slog.Logger
}

// minToken is the least length of a token, in bytes.
const minToken = 16

// handler serves the page of one runtime.
type handler struct {
	Options
	rt        *cocoon.Runtime
	collector collector
	streams   streams
	patience  time.Duration // with viewers that do not read
	origins   http.CrossOriginProtection
}

// Handler returns a handler that serves the page of the runtime, as the package comment describes.
// It panics if the token of the options is too short. The handler does nothing until the first
// request. It need not be closed, and may be used even after Shutdown.
func Handler(rt *cocoon.Runtime, o Options) http.Handler {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.Documents = slices.Clone(o.Documents)
	switch {
	case o.Actions && o.Token == "":
		o.Token = rand.Text()
		o.Logger.Info("cocoondebug: actions need the token", "token", o.Token)
	case o.Actions && len(o.Token) < minToken:
		panic(fmt.Sprintf("cocoondebug: the token has %d bytes; want at least %d, or none to have one drawn", len(o.Token), minToken))
	}
	return &handler{Options: o, rt: rt, collector: collector{rt: rt, linger: lingers}, patience: readsWithin}
}

//go:embed page.css page.js
var assets embed.FS

// policyOfContent lets the browser load only content of the handler, and run no inline script. So
// unescaped text of a client could still do nothing.
const policyOfContent = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP serves the page and its other paths, by the last element of the request's path.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policyOfContent)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	last := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	switch last {
	case "cancel", "mode", "load":
		h.act(w, r, last)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "cocoondebug: this is only to be read; use GET", http.StatusMethodNotAllowed)
		return
	}
	switch last {
	case "":
		h.page(w, r)
	case "stream":
		h.stream(w, r)
	case "documents":
		h.documents(w)
	case "page.css", "page.js":
		http.ServeFileFS(w, r, assets, last)
	default:
		http.Error(w, fmt.Sprintf("cocoondebug: there is no %q; the page is at a path that ends in a slash", last), http.StatusNotFound)
	}
}

// page serves the page, or a Snapshot.
func (h *handler) page(w http.ResponseWriter, r *http.Request) {
	f, as := h.collector.look(), h.formOf(r)
	text, err := f.as(as)
	if err == nil && !as.JSON {
		text, err = documentOf(page{Snapshot: f.shown, view: as.view, Documents: h.Documents}, text)
	}
	if err != nil {
		http.Error(w, "cocoondebug: "+err.Error(), http.StatusInternalServerError)
		return
	}
	contentType := "text/html; charset=utf-8"
	if as.JSON {
		contentType = "application/json"
	}
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(text) // the client may have gone
}

// formOf returns the form that a request asks for.
func (h *handler) formOf(r *http.Request) form {
	query := r.URL.Query()
	if query.Get("format") == "json" {
		return form{JSON: true}
	}
	v := view{Sort: ByCPU, Actions: h.Actions}
	if by := Sort(query.Get("sort")); by == ByWait || by == ByThrows {
		v.Sort = by
	}
	return form{view: v}
}
