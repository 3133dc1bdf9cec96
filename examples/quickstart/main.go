package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonhttp"
)

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{id}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "item", r.PathValue("id")) })
	mux.HandleFunc("GET /report", report)
	rt := cocoon.Default()
	if err := rt.LoadPolicyFile("policies.yaml"); err != nil {
		log.Fatal(err)
	}
	srv := &http.Server{Addr: os.Getenv("ADDR"), Handler: cocoonhttp.Middleware(rt, cocoonhttp.Options{})(mux)}
	term, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() { log.Print(srv.ListenAndServe()) }()
	<-term.Done()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := cocoonhttp.Shutdown(ctx, srv, rt); err != nil {
		log.Fatal(err)
	}
}

func report(w http.ResponseWriter, r *http.Request) {
	rows, _ := strconv.Atoi(r.FormValue("rows"))
	sum := sha256.Sum256(nil)
	for range rows {
		sum = sha256.Sum256(sum[:])
		cocoon.SafePoint(r.Context())
	}
	fmt.Fprintf(w, "%x\n", sum)
}
