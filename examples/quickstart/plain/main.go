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
)

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{id}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "item", r.PathValue("id")) })
	mux.HandleFunc("GET /report", report)
	srv := &http.Server{Addr: os.Getenv("ADDR"), Handler: mux}
	term, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() { log.Print(srv.ListenAndServe()) }()
	<-term.Done()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
}

func report(w http.ResponseWriter, r *http.Request) {
	rows, _ := strconv.Atoi(r.FormValue("rows"))
	sum := sha256.Sum256(nil)
	for range rows {
		sum = sha256.Sum256(sum[:])
	}
	fmt.Fprintf(w, "%x\n", sum)
}
