package cocoon_test

// The code listings of the paper (Xie, Jin, Vasilakis: Towards Hybrid Cooperative-Preemptive
// Scheduling, PLOS '25), as Go.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// §4.2, first listing: a policy of one's own, evaluated every 100 µs.
func Example_customPolicy() {
	rt, _ := cocoon.New(cocoon.Config{Slots: 1})
	defer rt.Shutdown(context.Background())

	_, err := rt.RegisterPolicy(cocoon.Policy{
		Name: "limit",
		On:   cocoon.Every(100 * time.Microsecond),
		Expr: `task.running > duration("20ms") ? throw("execution time exceeded") : continue()`,
	})
	if err != nil {
		fmt.Println(err)
	}
	err = rt.Run(context.Background(), "endless", func(ctx context.Context) error {
		for {
			cocoon.SafePoint(ctx)
		}
	})
	var preempted *cocoon.PreemptedError
	fmt.Println(errors.As(err, &preempted), preempted.Reason)
	// Output: true execution time exceeded
}

// §4.2, second listing: the ready-made time limit on a function.
func Example_timeLimit() {
	rt, _ := cocoon.New(cocoon.Config{Slots: 1})
	defer rt.Shutdown(context.Background())

	if _, err := rt.RegisterTimeLimit(cocoon.TimeLimit{
		Func: "regex.match", Limit: 20 * time.Millisecond, Reason: "execution time exceeded",
	}); err != nil {
		fmt.Println(err)
	}
	rt.Run(context.Background(), "request", func(ctx context.Context) error {
		_, err := cocoon.Section(ctx, "regex.match", func() (bool, error) {
			for {
				cocoon.SafePoint(ctx)
			}
		})
		var preempted *cocoon.PreemptedError
		fmt.Println(errors.As(err, &preempted), preempted.Section, preempted.Reason)
		return nil // the request goes on
	})
	// Output: true regex.match execution time exceeded
}

func ScanHandler(w http.ResponseWriter, r *http.Request) {
	err := cocoon.Run(r.Context(), cocoon.FuncName(ScanHandler), func(ctx context.Context) error {
		for range 1000 {
			cocoon.SafePoint(ctx)
		}
		return nil
	})
	fmt.Fprint(w, "scanned ", err)
}

func GetHandler(w http.ResponseWriter, r *http.Request) {
	err := cocoon.Run(r.Context(), cocoon.FuncName(GetHandler), func(context.Context) error { return nil })
	fmt.Fprint(w, "got ", err)
}

// §4.2, third listing: which functions are preemptible, which safe; and the shared state.
func Example_kinds() {
	fmt.Println(
		cocoon.RegisterPreemptibleFunc(ScanHandler),
		cocoon.RegisterSafeFunc(GetHandler),
		cocoon.RegisterState(map[string]any{"overloaded": false}),
	)
	fmt.Println(cocoon.State("overloaded"))
	for _, h := range []http.HandlerFunc{ScanHandler, GetHandler} {
		w := httptest.NewRecorder()
		h(w, httptest.NewRequest("GET", "/", nil))
		fmt.Println(w.Body)
	}
	// Output:
	// <nil> <nil> <nil>
	// false
	// scanned <nil>
	// got <nil>
}

// §5.1: a regex server that responds when a match was stopped. The matcher here polls explicitly; a
// program built with safe points in its packages needs no such call.
func Example_redos() {
	rt, _ := cocoon.New(cocoon.Config{Slots: 1})
	defer rt.Shutdown(context.Background())
	rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "regex.match", Limit: 20 * time.Millisecond})

	match := func(ctx context.Context, body string) (bool, error) {
		for body == "aaaaaaaac" { // catastrophic backtracking
			cocoon.SafePoint(ctx)
		}
		return regexp.MatchString(`^[a-zA-Z]+$`, body)
	}
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rt.Run(r.Context(), "request", func(ctx context.Context) error {
			matched, err := cocoon.Section(ctx, "regex.match", func() (bool, error) { return match(ctx, r.FormValue("q")) })
			var preempted *cocoon.PreemptedError
			if errors.As(err, &preempted) {
				http.Error(w, "interrupted", http.StatusServiceUnavailable)
				return nil
			}
			fmt.Fprintln(w, matched)
			return err
		})
	})
	for _, q := range []string{"abc", "aaaaaaaac", "123"} {
		w := httptest.NewRecorder()
		server(w, httptest.NewRequest("GET", "/?q="+q, nil))
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// 200 true
	// 503 interrupted
	// 200 false
}

// §5.2: an arriving get preempts a running scan.
func Example_headOfLine() {
	rt, _ := cocoon.New(cocoon.Config{Slots: 1})
	defer rt.Shutdown(context.Background())
	rt.RegisterPreemptibleFunc("server.scan")
	rt.RegisterSafeFunc("server.get")
	rt.RegisterDefaultPreemption(cocoon.OnEnqueue)

	ctx := context.Background()
	scanning, got := make(chan bool), make(chan bool)
	scan := rt.Go(ctx, "server.scan", func(ctx context.Context) error {
		close(scanning)
		for {
			select {
			case <-got:
				fmt.Println("the scan goes on")
				return nil
			default:
				cocoon.SafePoint(ctx)
			}
		}
	})
	<-scanning
	rt.Run(ctx, "server.get", func(context.Context) error {
		fmt.Println("the get runs, the scan is half-way")
		close(got)
		return nil
	})
	fmt.Println(scan.Wait(ctx), scan.Account().Preemptions)
	// Output:
	// the get runs, the scan is half-way
	// the scan goes on
	// <nil> 1
}

// §5.3: a policy watches the queue, and calls a safe function when the queue is too long.
func Example_overload() {
	rt, _ := cocoon.New(cocoon.Config{Slots: 1})
	defer rt.Shutdown(context.Background())

	var once sync.Once
	acted := make(chan bool)
	rt.RegisterState(map[string]any{"overloaded": false})
	rt.RegisterSafeFunc(cocoon.Func{Name: "OverloadAction", Do: func(context.Context) { once.Do(func() { close(acted) }) }})
	_, err := rt.RegisterPolicy(cocoon.Policy{
		Name: "overload",
		On:   cocoon.Every(100 * time.Microsecond),
		Expr: `if queue.length > 10 { set("overloaded", true); call("OverloadAction"); continue() } else { continue() }`,
	})
	if err != nil {
		fmt.Println(err)
	}
	ctx := context.Background()
	running := make(chan bool)
	long := rt.Go(ctx, "long", func(ctx context.Context) error {
		close(running)
		for { // the alarm comes while this task runs, not after it
			select {
			case <-acted:
				return nil
			default:
				cocoon.SafePoint(ctx)
			}
		}
	})
	<-running
	for range 20 {
		rt.Go(ctx, "short", func(context.Context) error { return nil })
	}
	fmt.Println(long.Wait(ctx), rt.State("overloaded"))
	// Output: <nil> true
}
