package loadtest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// Serve is the body of a server process: it announces its address, on the loopback interface, and
// serves until its standard input ends. It responds to Child.Usage.
func Serve(handler http.Handler) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	if err := Attend(listener, func() { server.Close() }); err != nil {
		return err
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// StartServer starts the role "server" and returns its address.
func StartServer(ctx context.Context, config any, cores []int, env []string, stderr io.Writer) (*Child, string, error) {
	server, err := Start(ctx, "server", config, cores, env, stderr)
	if err != nil {
		return nil, "", err
	}
	address, err := server.Announced()
	return server, address, err
}
