package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
)

// TestServe: while plugins that never return are stopped, others respond.
func TestServe(t *testing.T) {
	wasm, err := os.ReadFile("../../../guest/testdata/fib.wasm")
	if err != nil {
		t.Fatal(err)
	}
	rt, err := cocoon.New(cocoon.Config{Slots: 1, QuietThrows: true})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Shutdown(context.Background())
	server := httptest.NewServer(serve(rt, wasm))
	defer server.Close()
	get := func(path string) (int, string) {
		response, err := http.Get(server.URL + path)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(body)
	}
	var wait sync.WaitGroup
	for range 4 {
		for path, want := range map[string]struct {
			code int
			text string
		}{
			"/fib?n=20": {http.StatusOK, "[6765]\n"},
			"/spin":     {http.StatusBadGateway, "the plugin is too slow"},
			"/fib":      {http.StatusBadGateway, "plugin.fib takes 1 parameters, and got 0"},
			"/nothing":  {http.StatusBadGateway, `plugin exports no function "nothing"`},
		} {
			wait.Add(1)
			go func() {
				defer wait.Done()
				if code, text := get(path); code != want.code || !strings.Contains(text, want.text) {
					t.Errorf("%s: %d, %q; want %d, %q", path, code, text, want.code, want.text)
				}
			}()
		}
	}
	wait.Wait()
}

// TestGuide checks that docs/guide.md shows the program from its function serve on.
func TestGuide(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, serve, _ := strings.Cut(string(program), "func serve(")
	if !strings.Contains(string(guide), "```go\nfunc serve("+serve+"```\n") {
		t.Error("docs/guide.md does not show the function serve as it is")
	}
	if n := strings.Count(string(program), "\n"); n > 60 {
		t.Errorf("the program has %d lines", n)
	}
}
