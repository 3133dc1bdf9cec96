// Package browser tests the page of cocoondebug in a real browser, Chromium without a window.
package browser

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoondebug"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// browser returns the context of a new tab, whose console must stay empty: it would have violations
// of the policy of content, and errors of the script.
func browser(t *testing.T) context.Context {
	t.Helper()
	found := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			found = path
			break
		}
	}
	if found == "" {
		t.Skip("there is no Chromium: apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(found), chromedp.WindowSize(1100, 900), chromedp.WSURLReadTimeout(time.Minute))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // it does not run as root otherwise
	}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	t.Cleanup(cancel)
	watchConsole(t, ctx)
	return ctx
}

const token = "0123456789abcdef"

// overloaded returns the page of a runtime with more tasks than it can run, until the end of the
// test.
func overloaded(t *testing.T) (rt *cocoon.Runtime, page string) {
	t.Helper()
	rt = tasktest.Start(t, cocoon.Config{Slots: 1, QuietThrows: true})
	tasktest.Must(t, rt.LoadPolicies(strings.NewReader(`
version: 1
tasks: {default: preemptible}
policies:
  - name: shed
    on: enqueue
    expr: 'queue.length > 3 ? throw("the queue is long") : continue()'
  - name: limit
    every: 1ms
    expr: 'task.name == "endless" and task.running > duration("20ms") ? throw("it took too long") : continue()'
`)))
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() { cancel(); all.Wait() })
	for i := range 8 {
		all.Go(func() {
			for ctx.Err() == nil {
				_ = rt.Run(ctx, fmt.Sprintf("work %d", i), func(ctx context.Context) error {
					for end := time.Now().Add(2 * time.Millisecond); time.Now().Before(end); {
						cocoon.SafePoint(ctx)
					}
					return nil
				})
				time.Sleep(10 * time.Millisecond) // a client that comes back
			}
		})
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/cocoon/", cocoondebug.Handler(rt, cocoondebug.Options{
		Actions: true, Token: token, Logger: slog.New(slog.DiscardHandler),
	}))
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.Config.Close() // also the streams, for which server.Close alone would wait
		server.Close()
	})
	return rt, server.URL + "/debug/cocoon/"
}

func do(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// ask evaluates an expression in the page.
func ask[T any](t *testing.T, ctx context.Context, expression string) (v T) {
	t.Helper()
	do(t, ctx, chromedp.Evaluate(expression, &v))
	return v
}

// wait waits until an expression holds in the page.
func wait(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	do(t, ctx, chromedp.Poll(expression, nil, chromedp.WithPollingInterval(10*time.Millisecond), chromedp.WithPollingTimeout(30*time.Second)))
}

// The page renders under an overload and is updated in place: the focus, open details and the
// user's text stay.
func TestPageIsLive(t *testing.T) {
	ctx := browser(t)
	_, page := overloaded(t)
	do(t, ctx, chromedp.Navigate(page), chromedp.WaitVisible("#loops svg"))
	wait(t, ctx, `document.getElementById("connection").textContent === "Live."`)
	wait(t, ctx, `document.querySelector("#loops svg.line path") !== null`)
	wait(t, ctx, `document.querySelectorAll("#decisions tr.refusal").length > 0`)
	do(t, ctx, chromedp.Evaluate(`
		document.getElementById("policy-shed").open = true;
		document.querySelector("#policy-shed pre").focus();
		document.querySelector("input[name=token]").value = "typed";
		window.before = document.getElementById("policy-shed");
		window.seen = document.getElementById("time").textContent;`, nil))
	wait(t, ctx, `document.getElementById("time").textContent !== window.seen`)
	for _, stays := range []string{
		`document.getElementById("policy-shed") === window.before`, `document.getElementById("policy-shed").open`,
		`document.activeElement === document.querySelector("#policy-shed pre")`, `document.querySelector("input[name=token]").value === "typed"`,
	} {
		if !ask[bool](t, ctx, stays) {
			t.Errorf("after an update it does not hold: %s", stays)
		}
	}
	if n := ask[int](t, ctx, `document.querySelectorAll("section").length - new Set([...document.querySelectorAll("section")].map(s => s.id)).size`); n != 0 {
		t.Errorf("%d sections too many", n)
	}
	do(t, ctx, chromedp.Click("#pause"))
	was := ask[string](t, ctx, `document.getElementById("time").textContent`)
	time.Sleep(1200 * time.Millisecond) // two updates
	if now := ask[string](t, ctx, `document.getElementById("time").textContent`); now != was {
		t.Error("a paused page is updated")
	}
	do(t, ctx, chromedp.Click("#pause"))
	wait(t, ctx, fmt.Sprintf(`document.getElementById("time").textContent !== %q`, was))
}

// A throw appears with its reason, soon.
func TestThrowAppears(t *testing.T) {
	ctx := browser(t)
	rt, page := overloaded(t)
	do(t, ctx, chromedp.Navigate(page))
	wait(t, ctx, `document.getElementById("connection").textContent === "Live."`)
	begun := make(chan time.Time, 1)
	h := make(chan error, 1)
	go func() {
		for { // until the queue has room
			err := rt.Run(context.Background(), "endless", func(ctx context.Context) error {
				begun <- time.Now()
				for {
					cocoon.SafePoint(ctx)
				}
			})
			if len(begun) > 0 || strings.Contains(fmt.Sprint(err), "too long") {
				h <- err
				return
			}
		}
	}()
	if err := tasktest.Receive(t, "the throw", h); err == nil {
		t.Error("the task was not thrown into")
	}
	thrown := time.Now()
	wait(t, ctx, `[...document.querySelectorAll("#decisions tr.throw")].some(r => r.textContent.includes("it took too long") && r.textContent.includes("endless"))`)
	late := time.Since(thrown)
	t.Logf("the throw appeared after %v", late)
	if late > 5*time.Second { // within one on a machine that is not busy
		t.Errorf("the throw appeared after %v", late)
	}
}

// An action needs the token, and then works.
func TestActionNeedsTheToken(t *testing.T) {
	ctx := browser(t)
	rt, page := overloaded(t)
	mode := func() cocoon.Mode { return rt.Policy("shed").Policy().Mode }
	for _, test := range []struct {
		token, title string
		want         cocoon.Mode
	}{{"another token, which is wrong", "No action", cocoon.Enforce}, {token, "Done", cocoon.Observe}} {
		do(t, ctx, chromedp.Navigate(page), chromedp.WaitVisible("#policies"),
			chromedp.Evaluate(`document.getElementById("policy-shed").open = true`, nil),
			chromedp.SendKeys("input[name=token]", test.token),
			chromedp.Click(`#policy-shed button[name=observe]`, chromedp.ByQuery),
			chromedp.WaitVisible("#message"))
		if title := ask[string](t, ctx, `document.querySelector("h1").textContent`); title != test.title || mode() != test.want {
			t.Errorf("with the token %q the page says %q and the mode is %v", test.token, title, mode())
		}
	}
	// The key Enter in the field of the token does nothing by itself.
	do(t, ctx, chromedp.Navigate(page), chromedp.WaitVisible("#policies"), chromedp.SendKeys("input[name=token]", token+"\r"))
	if at := ask[string](t, ctx, `location.pathname`); at != "/debug/cocoon/" {
		t.Errorf("Enter in the token has led to %s", at)
	}
}

// Without JavaScript the page is a whole snapshot.
func TestPageWithoutScript(t *testing.T) {
	ctx := browser(t)
	_, page := overloaded(t)
	var text string
	do(t, ctx, withoutScript(), chromedp.Navigate(page), chromedp.WaitReady("#about"), chromedp.Text("body", &text, chromedp.ByQuery))
	for _, part := range []string{"A snapshot; load it again.", "Slots busy", "shed", "the queue is long"} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %q:\n%s", part, text)
		}
	}
}

// No text of a client becomes a part of the page, when the page is loaded and when it is updated.
func TestHostileTexts(t *testing.T) {
	ctx := browser(t)
	rt, page := overloaded(t)
	const attack = `</td></tr></table><img src=x onerror="window.hit=1"><script>window.hit=1</script>`
	stop := make(chan struct{})
	var h *cocoon.Handle
	tasktest.Eventually(t, "the queue has room", func() bool {
		h = rt.Go(context.Background(), attack, func(ctx context.Context) error {
			return cocoon.Block(ctx, func() error { <-stop; return nil })
		})
		tasktest.Eventually(t, "the task was taken", func() bool { return h.Task().Status() != cocoon.Starting })
		return h.Task().Status() == cocoon.Started
	})
	defer func() { close(stop); <-h.Done() }()
	do(t, ctx, chromedp.Navigate(page), chromedp.WaitVisible("#tasks"))
	wait(t, ctx, `document.getElementById("connection").textContent === "Live."`)
	wait(t, ctx, `document.getElementById("tasks").textContent.includes("onerror")`)
	if ask[bool](t, ctx, `window.hit === 1 || document.querySelector("main img, main script") !== null`) {
		t.Error("a text of a client became a part of the page")
	}
}
