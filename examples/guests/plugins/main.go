// Plugins calls functions of a WebAssembly plugin: GET /fib?n=20 calls fib(20). docs/guide.md has
// it.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonhttp"
	"github.com/cocoon-go/cocoon/guest"
)

func main() {
	wasm, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), serve(cocoon.Default(), wasm)))
}

func serve(rt *cocoon.Runtime, wasm []byte) http.Handler {
	plugin, err := guest.Compile(context.Background(), wasm, guest.Config{Name: "plugin", Loop: rt.Loop()})
	if err != nil {
		log.Fatal(err)
	}
	limit := cocoon.TimeLimit{Func: "plugin.*", Limit: 100 * time.Millisecond, Reason: "the plugin is too slow"}
	if _, err := rt.RegisterTimeLimit(limit); err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{function}", func(w http.ResponseWriter, r *http.Request) {
		in, err := plugin.Instantiate(r.Context(), nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		defer in.Shutdown(context.WithoutCancel(r.Context()))
		var args []uint64
		for _, n := range r.URL.Query()["n"] {
			v, _ := strconv.ParseInt(n, 0, 64)
			args = append(args, uint64(v))
		}
		results, err := in.Call(r.Context(), r.PathValue("function"), args...)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, results)
	})
	return cocoonhttp.Middleware(rt, cocoonhttp.Options{})(mux)
}
