package cocoondebug

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
)

// refusal is why an action is not done, and the status of the response.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

func refused(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// maxForm bounds the body of an action, in bytes.
const maxForm = 64 << 10

// act does an action, or shows what loading a document would change.
func (h *handler) act(w http.ResponseWriter, r *http.Request, what string) {
	if what == "load" && r.Method == http.MethodGet {
		h.showLoad(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	err := h.mayAct(r)
	done := ""
	if err == nil {
		done, err = h.do(what, r)
	}
	if err != nil {
		h.Logger.Warn("cocoondebug: no action", "action", what, "from", r.RemoteAddr, "err", err)
		show(w, message{Title: "No action", Text: err.Error()}, statusOf(w, err))
		return
	}
	h.Logger.Info("cocoondebug: action", "action", done, "from", r.RemoteAddr)
	show(w, message{Title: "Done", Text: done}, http.StatusOK)
}

// statusOf returns the status of the response to an action that was not done.
func statusOf(w http.ResponseWriter, err error) int {
	if why := (*refusal)(nil); errors.As(err, &why) {
		if why.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", http.MethodPost)
		}
		return why.status
	}
	return http.StatusConflict
}

// mayAct returns why the request may not act, or nil.
func (h *handler) mayAct(r *http.Request) error {
	switch {
	case r.Method != http.MethodPost:
		return refused(http.StatusMethodNotAllowed, "an action needs a POST")
	case !h.Actions:
		return errNoActions
	}
	if err := h.origins.Check(r); err != nil {
		return refused(http.StatusForbidden, "an action must come from the page itself: %v", err)
	}
	if err := r.ParseForm(); err != nil {
		return refused(http.StatusBadRequest, "the form cannot be read: %v", err)
	}
	if subtle.ConstantTimeCompare([]byte(r.PostFormValue("token")), []byte(h.Token)) != 1 {
		return refused(http.StatusForbidden, "an action needs the token of Options.Token")
	}
	return nil
}

var errNoActions = refused(http.StatusForbidden, "actions are off; set Options.Actions")

// do performs an action and describes its effect.
func (h *handler) do(what string, r *http.Request) (done string, err error) {
	switch what {
	case "cancel":
		return h.cancel(r)
	case "mode":
		return h.setMode(r)
	}
	return h.load(r)
}

func (h *handler) cancel(r *http.Request) (string, error) {
	t := h.collector.ids.task(r.PostForm.Get("task"))
	if t == nil || t.Status() > cocoon.Started {
		return "", refused(http.StatusNotFound, "the task has ended; nothing was cancelled")
	}
	h.record(r, t, "", "", "cancel")
	t.Cancel()
	return fmt.Sprintf("cancelled the task %q", pathOf(t.Path())), nil
}

func (h *handler) setMode(r *http.Request) (string, error) {
	for _, mode := range []cocoon.Mode{cocoon.Observe, cocoon.Enforce} {
		name := r.PostForm.Get(mode.String())
		if name == "" {
			continue
		}
		p := h.rt.Policy(name)
		if p == nil {
			return "", refused(http.StatusNotFound, "no policy %q is in force", cut(name, maxName))
		}
		h.record(r, nil, name, "", mode.String())
		if err := p.SetMode(mode); err != nil {
			return "", err
		}
		return fmt.Sprintf("put the policy %q into mode %v", name, mode), nil
	}
	return "", refused(http.StatusBadRequest, "want observe=POLICY or enforce=POLICY")
}

// load loads a document, if the text is the one whose changes the operator has seen.
func (h *handler) load(r *http.Request) (string, error) {
	file, seen := r.PostForm.Get("file"), r.PostForm.Get("digest")
	_, err := h.changes(file, func(digest string) error {
		if seen != digest {
			return refused(http.StatusConflict, "the file has changed, or would now change something else; look at the changes again")
		}
		h.record(r, nil, "", file, "load")
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("loaded %q", file), nil
}

// changes returns what loading a document would change. It calls load with a digest of that and of
// the document's text, and loads the document if load returns nil.
func (h *handler) changes(file string, load func(digest string) error) (texts []string, err error) {
	if !slices.Contains(h.Documents, file) {
		return nil, refused(http.StatusNotFound, "%q is none of Options.Documents", cut(file, maxName))
	}
	err = inside.LoadSeen(h.rt, file, func(text [32]byte, changes []string) error {
		texts = changes
		sum := sha256.Sum256(fmt.Appendf(nil, "%x%q", text, changes))
		return load(hex.EncodeToString(sum[:]))
	})
	return texts, err
}

// record puts an action into the stream of decisions.
func (h *handler) record(r *http.Request, t *cocoon.Task, policy, file, what string) {
	inside.Operated(h.rt, t, policy, file, fmt.Sprintf("%s, from %s", what, r.RemoteAddr))
}

// showLoad shows what loading a document would change.
func (h *handler) showLoad(w http.ResponseWriter, r *http.Request) {
	if !h.Actions {
		show(w, message{Title: "No action", Text: errNoActions.Error()}, http.StatusForbidden)
		return
	}
	file := r.URL.Query().Get("file")
	digest := ""
	changes, err := h.changes(file, func(d string) error { digest = d; return errOnlyLook })
	if !errors.Is(err, errOnlyLook) {
		show(w, message{Title: "The document cannot be loaded", Text: err.Error()}, statusOf(w, err))
		return
	}
	show(w, message{Title: "What " + file + " would change", File: file, Digest: digest, Changes: changes}, http.StatusOK)
}

// errOnlyLook keeps a document whose changes are only shown from being loaded.
var errOnlyLook = errors.New("only to look")

// message is a page with the result of an action.
type message struct {
	Title, Text, File, Digest string
	Changes                   []string
}

func show(w http.ResponseWriter, m message, status int) {
	text, err := rendered("message", m)
	if err != nil {
		http.Error(w, "cocoondebug: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have gone
}
