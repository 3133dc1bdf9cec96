package main

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonhttp"
)

// httpServer is the environment in which this program is a server: its value is the kind.
const httpServer = "COCOON_BENCH_HTTP_SERVER"

const (
	plainServer  = "plain"
	cocoonServer = "cocoon"
)

// serveHTTP is the server process. It prints its address, then for each line of its standard input the processor time that
// it has used, in seconds; and ends with its input.
func serveHTTP(kind string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello, world")
	})
	var handler http.Handler = mux
	if kind == cocoonServer {
		rt, err := cocoon.New(cocoon.Config{})
		if err != nil {
			return err
		}
		handler = cocoonhttp.Middleware(rt, cocoonhttp.Options{})(mux)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(listener.Addr().String()); err != nil {
		return err
	}
	server := &http.Server{Handler: handler}
	go func() {
		for line := make([]byte, 1); ; {
			if _, err := os.Stdin.Read(line); err != nil {
				server.Close()
				return
			}
			out.Encode(processorTime())
		}
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
