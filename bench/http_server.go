package main

import (
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonhttp"
)

// The servers: as Go has them, and with Cocoon.
const (
	plainServer  = "plain"
	cocoonServer = "cocoon"
)

// serveHTTP is the server process.
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
	server := &http.Server{Handler: handler}
	if err := attend(listener, func() { server.Close() }); err != nil {
		return err
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
