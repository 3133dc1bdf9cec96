package loadtest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// announcement is a server's first and only word on its standard output.
type announcement struct{ Address string }

// Serve is the body of a server process: it announces its address, on the loopback interface, and serves until its standard
// input ends, which is when the experiment wants it to or has died.
func Serve(handler http.Handler) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(announcement{listener.Addr().String()}); err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// StartServer starts the role "server" and returns the address that it announces.
func StartServer(ctx context.Context, config any, cores []int, env []string, stderr io.Writer) (*Child, string, error) {
	server, err := Start(ctx, "server", config, cores, env, stderr)
	if err != nil {
		return nil, "", err
	}
	var hello announcement
	if err := server.Receive(&hello); err != nil {
		return nil, "", errors.Join(err, server.Stop())
	}
	return server, hello.Address, nil
}
