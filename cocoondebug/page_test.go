package cocoondebug

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

func nothing(context.Context) error { return nil }

// The page and the snapshot show each thing that a runtime has.
func TestPageShowsTheRuntime(t *testing.T) {
	rt := started(t, cocoon.Config{Slots: 1})
	_, page := served(t, rt, Options{})
	tenant := cocoon.WithLabel(context.Background(), "tenant", "gold")
	stop := occupy(rt, tenant, "scan")
	defer stop()
	_ = rt.Run(tenant, "unwanted", nothing)
	ctx, cancel := context.WithCancel(tenant)
	defer cancel()
	var inner *cocoon.Handle
	outer := rt.Go(ctx, "import", func(ctx context.Context) error {
		inner = rt.Go(ctx, "parse", nothing)
		return inner.Wait(ctx)
	})
	tasktest.Eventually(t, "the task waits", func() bool { return rt.Loop().Stats().Queued > 0 })

	s := snapshot(t, page)
	l := s.Loops[0]
	if l.Name != "default" || l.Slots != 1 || l.Queued == 0 || l.Refused != 1 || len(l.Tenants) == 0 || l.Tenants[len(l.Tenants)-1].Name != "gold" {
		t.Errorf("the loop is %+v", l)
	}
	if p := s.Policies[1]; p.Name != "shed" || p.Refusals != 1 || p.Cost == 0 || p.On != "on enqueue" || len(p.Last) != 2 || !strings.Contains(p.Text, "not now") {
		t.Errorf("the policy is %+v", p)
	}
	if d := s.Decisions[0]; d.Kind != "refusal" || d.Reason != "not now" || d.Task != "unwanted" || d.Branch == nil || len(d.Values) == 0 {
		t.Errorf("the last decision is %+v", d)
	}
	states := map[string]string{}
	for _, state := range s.States {
		states[state.Name] = string(state.Value)
	}
	if states["most"] != "3" || s.States[1].MaxKeys != 8 {
		t.Errorf("the states are %+v", s.States)
	}
	tasktest.Eventually(t, "the time line has the task", func() bool {
		l := snapshot(t, page).Loops[0].Line
		return len(l.Names) > 1 && l.Names[1] == "scan" && len(l.Slots) == 1 && len(l.Slots[0]) > 0
	})
	status, body := get(t, page)
	if status != http.StatusOK {
		t.Fatal(status)
	}
	for _, part := range []string{
		"not now", "unwanted", "shed", "planned", "<em>observe</em>", "gold", "scan", "import", "arriving.name == &#34;unwanted&#34;", "slot 0", "<path class=\"c1\"",
	} {
		if !strings.Contains(body, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if strings.Contains(body, "<form") {
		t.Error("a page without actions has a form")
	}
	stop()
	tasktest.Must(t, outer.Wait(context.Background()))
}

// A child is shown below its parent, also when the parent has ended.
func TestTasksAreATree(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 2})
	_, page := served(t, rt, Options{})
	var stop func()
	tasktest.Must(t, rt.Run(context.Background(), "import", func(ctx context.Context) error {
		stop = occupy(rt, ctx, "parse")
		return nil
	}))
	defer stop()
	tasks := snapshot(t, page).Tasks
	if len(tasks) != 2 || tasks[0].Name != "import" || tasks[0].State != "ended" || tasks[1].Depth != 1 || tasks[1].State != "running" ||
		strings.Join(tasks[1].Stack, "/") != "import/parse" {
		t.Errorf("the tasks are %+v", tasks)
	}
}

// The browser may load nothing from elsewhere and run no text of the page, and the page does not
// try.
func TestPageLoadsNothingElse(t *testing.T) {
	rt := started(t, cocoon.Config{})
	_, page := served(t, rt, Options{Actions: true, Token: "0123456789abcdef"})
	for path, contentType := range map[string]string{
		"": "text/html", "page.css": "text/css", "page.js": "text/javascript", "?format=json": "application/json", "?sort=wait": "text/html",
	} {
		r, err := http.Get(page + path)
		tasktest.Must(t, err)
		r.Body.Close()
		if got := r.Header.Get("Content-Type"); r.StatusCode != http.StatusOK || !strings.HasPrefix(got, contentType) {
			t.Errorf("%q: status %d, %q", path, r.StatusCode, got)
		}
		if got := r.Header.Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none';") || strings.Contains(got, "unsafe") {
			t.Errorf("%q: the policy of content is %q", path, got)
		}
	}
	_, body := get(t, page)
	for _, bad := range []string{`style=`, `\son[a-z]+=`, `https?://`, `<script>`, `src="/`} {
		if found := regexp.MustCompile(bad).FindString(body); found != "" {
			t.Errorf("the page has %q", found)
		}
	}
	for path, want := range map[string]int{"other": http.StatusNotFound, "page.html": http.StatusNotFound, "handler.go": http.StatusNotFound} {
		if status, _ := get(t, page+path); status != want {
			t.Errorf("%s: status %d; want %d", path, status, want)
		}
	}
	r, err := http.Post(page, "text/plain", nil)
	tasktest.Must(t, err)
	r.Body.Close()
	if r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d", r.StatusCode)
	}
}

// Texts that clients choose do not become parts of the page, and every form of the snapshot remains
// valid.
func TestHostileTexts(t *testing.T) {
	rt := started(t, cocoon.Config{Slots: 1})
	_, page := served(t, rt, Options{})
	const attack = "</td></table><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\xff\x00\r\ndata: {}\n\nevent: end\n\revent: end\rdata: {}\r\r\x1b[31m\u202e\u0085"
	_, err := rt.RegisterPolicy(cocoon.Policy{
		Name: "echo", On: cocoon.OnEnqueue,
		Expr: `arriving.labels.client != "" and arriving.priority == 7 ? throw("<script>alert(2)</script>") : continue()`,
	})
	tasktest.Must(t, err)
	ctx := cocoon.WithLabel(cocoon.WithLabel(context.Background(), "tenant", attack), "client", attack)
	stop := occupy(rt, ctx, attack)
	defer stop()
	_ = rt.Run(cocoon.WithPriority(ctx, 7), attack, nothing)
	_ = rt.Run(ctx, "unwanted", nothing)
	streaming, cancel := context.WithTimeout(context.Background(), tasktest.Patience)
	defer cancel()
	event := tasktest.Receive(t, "an event", watch(streaming, t, page+"stream"))
	_, body := get(t, page)
	for _, text := range []string{body, event} {
		if i := strings.IndexAny(text, "\r\x00\x1b\u202e\u0085"); i >= 0 {
			t.Errorf("a control character of a client is on the page: %q", text[max(0, i-20):min(len(text), i+20)])
		}
		if strings.Contains(text, "<script>alert") || strings.Contains(text, "<img") || !strings.Contains(text, "&lt;script&gt;alert(1)") || !strings.Contains(text, "&lt;script&gt;alert(2)") {
			t.Errorf("a text of a client is not escaped, or missing:\n%s", text)
		}
	}
	if strings.HasPrefix(event, "end") {
		t.Error("a text of a client has ended the stream")
	}
	s := snapshot(t, page)
	if text, err := json.Marshal(s); err != nil || !json.Valid(text) {
		t.Error(err)
	}
}

// A decision has the same JSON form here and in package cocoon.
func TestDecisionsAreAlike(t *testing.T) {
	rt := started(t, cocoon.Config{Slots: 1})
	_ = rt.Run(cocoon.WithLabel(context.Background(), "client", "<&>"), "unwanted", nothing)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	kinds := map[string]bool{}
	for d := range rt.Decisions(0).All(ctx) {
		want, err := json.Marshal(d)
		tasktest.Must(t, err)
		got, err := json.Marshal(decisionOf(d))
		tasktest.Must(t, err)
		var a, b map[string]any
		tasktest.Must(t, json.Unmarshal(want, &a))
		tasktest.Must(t, json.Unmarshal(got, &b))
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if string(x) != string(y) {
			t.Errorf("got\n%s; want\n%s", y, x)
		}
		kinds[string(d.Kind)] = true
	}
	if !kinds["refusal"] || !kinds["document-loaded"] {
		t.Errorf("the decisions had the kinds %v", kinds)
	}
}
