package cocoondebug

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

const token = "0123456789abcdef"

// post sends an action, with what the browser adds, and returns the status and the body.
func post(t testing.TB, to string, form url.Values, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, to, strings.NewReader(form.Encode()))
	tasktest.Must(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	tasktest.Must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	tasktest.Must(t, err)
	return response.StatusCode, string(body)
}

// logged returns a logger and what it got.
func logged() (*slog.Logger, *strings.Builder) {
	var text strings.Builder
	return slog.New(slog.NewTextHandler(&text, nil)), &text
}

// lastAction returns the newest action in the stream of decisions.
func lastAction(t testing.TB, page string) Decision {
	t.Helper()
	var d Decision
	tasktest.Eventually(t, "an action in the stream", func() bool {
		for _, d = range snapshot(t, page).Decisions {
			if d.Kind == string(cocoon.DecisionAction) {
				return true
			}
		}
		return false
	})
	return d
}

// An action needs a POST, the page's own origin, and the token. Without one of them nothing
// happens, except for a line in the log.
func TestActionsAreGuarded(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := started(t, cocoon.Config{Slots: 1})
	logger, lines := logged()
	_, page := served(t, rt, Options{Actions: true, Token: token, Logger: logger})
	_, closed := served(t, rt, Options{})
	form := func(token string) url.Values { return url.Values{"observe": {"shed"}, "token": {token}} }
	for name, test := range map[string]struct {
		page   string
		form   url.Values
		header []string
		want   int
	}{
		"no token":       {page, form(""), nil, http.StatusForbidden},
		"another token":  {page, form(token + "0"), nil, http.StatusForbidden},
		"another site":   {page, form(token), []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"same site":      {page, form(token), []string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		"another origin": {page, form(token), []string{"Origin", "http://example.com"}, http.StatusForbidden},
		"too long":       {page, url.Values{"token": {strings.Repeat("x", maxForm)}}, nil, http.StatusBadRequest},
		"no actions":     {closed, form(token), nil, http.StatusForbidden},
		"no policy":      {page, url.Values{"observe": {"none"}, "token": {token}}, nil, http.StatusNotFound},
		"no mode":        {page, url.Values{"off": {"shed"}, "token": {token}}, nil, http.StatusBadRequest},
	} {
		if status, body := post(t, test.page+"mode", test.form, test.header...); status != test.want {
			t.Errorf("%s: status %d; want %d: %s", name, status, test.want, body)
		}
	}
	if status, _ := get(t, page+"mode?observe=shed&token="+token); status != http.StatusMethodNotAllowed {
		t.Errorf("GET: status %d", status)
	}
	if status, _ := post(t, page+"mode?token="+token, url.Values{"observe": {"shed"}}); status != http.StatusForbidden {
		t.Errorf("with the token in the address: status %d", status)
	}
	if m := rt.Policy("shed").Policy().Mode; m != cocoon.Enforce {
		t.Errorf("the mode is %v", m)
	}
	if strings.Contains(lines.String(), token) || strings.Count(lines.String(), "no action") < 8 {
		t.Errorf("the log is\n%s", lines)
	}
	if status, body := post(t, page+"mode", form(token), "Sec-Fetch-Site", "same-origin"); status != http.StatusOK {
		t.Errorf("status %d: %s", status, body)
	}
	if m := rt.Policy("shed").Policy().Mode; m != cocoon.Observe {
		t.Errorf("the mode is %v", m)
	}
	if d := lastAction(t, page); d.Policy != "shed" || !strings.HasPrefix(d.Reason, "observe, from 127.0.0.1:") {
		t.Errorf("the decision is %+v", d)
	}
	if !strings.Contains(lines.String(), `into mode observe"`) {
		t.Errorf("the log is\n%s", lines)
	}
	if _, body := get(t, page); !strings.Contains(body, `<th scope="row">mode observe</th>`) {
		t.Error("the page does not say which mode it is now")
	}
}

func TestActionCancel(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := started(t, cocoon.Config{Slots: 1})
	_, page := served(t, rt, Options{Actions: true, Token: token})
	running := make(chan struct{})
	h := rt.Go(context.Background(), "scan", func(ctx context.Context) error {
		close(running)
		for {
			cocoon.SafePoint(ctx)
		}
	})
	<-running
	form := url.Values{"task": {snapshot(t, page).Tasks[0].ID}, "token": {token}}
	if status, body := post(t, page+"cancel", form); status != http.StatusOK || !strings.Contains(body, "scan") {
		t.Errorf("status %d: %s", status, body)
	}
	if err := h.Wait(context.Background()); !errors.Is(err, cocoon.ErrCancelled) {
		t.Errorf("the task ended with %v", err)
	}
	if d := lastAction(t, page); d.Task != "scan" || !strings.HasPrefix(d.Reason, "cancel, from ") {
		t.Errorf("the decision is %+v", d)
	}
	for _, id := range []string{form.Get("task"), "", "1"} {
		form.Set("task", id)
		if status, _ := post(t, page+"cancel", form); status != http.StatusNotFound {
			t.Errorf("task %q: status %d", id, status)
		}
	}
}

// A document is loaded only after its changes were shown, and only if they are still the same.
func TestActionLoad(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	file := filepath.Join(t.TempDir(), "policies.yaml")
	write := func(reason string) {
		tasktest.Must(t, os.WriteFile(file, []byte("version: 1\npolicies:\n  - {name: shed, on: enqueue, expr: 'throw(\""+reason+"\")'}\n"), 0o600))
	}
	write("first")
	tasktest.Must(t, rt.LoadPolicyFile(file))
	_, page := served(t, rt, Options{Actions: true, Token: token, Documents: []string{file}})
	write("<b>second</b>")
	status, body := get(t, page+"load?file="+url.QueryEscape(file))
	if status != http.StatusOK || !strings.Contains(body, "&lt;b&gt;second&lt;/b&gt;") {
		t.Fatalf("status %d: %s", status, body)
	}
	digest := regexp.MustCompile(`name="digest" value="([0-9a-f]+)"`).FindStringSubmatch(body)[1]
	load := func(digest string) int {
		status, _ := post(t, page+"load", url.Values{"file": {file}, "digest": {digest}, "token": {token}})
		return status
	}
	text := func() string { return rt.Policy("shed").Policy().Expr }
	if status := load(""); status != http.StatusConflict || !strings.Contains(text(), "first") {
		t.Errorf("without a look at the changes: status %d, %s", status, text())
	}
	write("third")
	if status := load(digest); status != http.StatusConflict || !strings.Contains(text(), "first") {
		t.Errorf("after another change: status %d, %s", status, text())
	}
	write("<b>second</b>")
	if status := load(digest); status != http.StatusOK || !strings.Contains(text(), "second") {
		t.Errorf("status %d, %s", status, text())
	}
	added := func(reason string) {
		write("<b>second</b>")
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		tasktest.Must(t, err)
		_, err = f.WriteString("  - {name: added, on: enqueue, expr: 'throw(\"" + reason + "\")'}\n")
		tasktest.Must(t, errors.Join(err, f.Close()))
	}
	added("seen")
	_, body = get(t, page+"load?file="+url.QueryEscape(file))
	if !strings.Contains(body, "throw(&#34;seen&#34;)") {
		t.Errorf("the changes lack the text of a new policy:\n%s", body)
	}
	digest = regexp.MustCompile(`name="digest" value="([0-9a-f]+)"`).FindStringSubmatch(body)[1]
	added("unseen")
	if status := load(digest); status != http.StatusConflict || rt.Policy("added") != nil {
		t.Errorf("a new policy with another text: status %d", status)
	}
	if d := lastAction(t, page); d.File != file || !strings.HasPrefix(d.Reason, "load, from ") {
		t.Errorf("the decision is %+v", d)
	}
	write("\")broken")
	if status, body := get(t, page+"load?file="+url.QueryEscape(file)); status != http.StatusConflict || !strings.Contains(body, "policies.yaml:") {
		t.Errorf("a broken document: status %d: %s", status, body)
	}
	for _, other := range []string{"", "/etc/passwd", filepath.Base(file)} {
		if status, _ := get(t, page+"load?file="+url.QueryEscape(other)); status != http.StatusNotFound {
			t.Errorf("%q: status %d", other, status)
		}
	}
}

func TestTokens(t *testing.T) {
	rt := started(t, cocoon.Config{})
	logger, lines := logged()
	h := Handler(rt, Options{Actions: true, Logger: logger}).(*handler)
	if len(h.Token) < minToken || !strings.Contains(lines.String(), h.Token) {
		t.Errorf("the drawn token is %q, and the log %s", h.Token, lines)
	}
	defer func() {
		if r := recover(); r == nil {
			t.Error("a short token was taken")
		}
	}()
	Handler(rt, Options{Actions: true, Token: "short"})
}
