package sqltest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"

	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestPoolsAreNotUnwound checks that throws into clients with pools lose nothing in programs that
// cocoon build makes, where a throw may come inside the client. Each rule of internal/keep for a
// client is needed for a case here: without the rule, places of a pool stay taken, or calls get the
// answers to other calls.
func TestPoolsAreNotUnwound(t *testing.T) {
	longtest.Skip(t, "it builds a program with cocoon build")
	dir := t.TempDir()
	cocoon := filepath.Join(dir, "cocoon")
	command(t, "go", "build", "-C", "../..", "-o", cocoon, "./cmd/cocoon")
	pools := filepath.Join(dir, "pools")
	command(t, cocoon, "build", "-o", pools, "./pools")
	for client, address := range map[string]func(testing.TB) string{
		"pgxpool":                 postgres.address,
		"database/sql with pgx":   postgres.address,
		"database/sql with pq":    postgres.address,
		"database/sql with mysql": mysql.address,
		"go-redis":                redisd.address,
		"go-redis subscriptions":  redisd.address,
		"redigo":                  redisd.address,
		"memcache":                memcacheServer,
	} {
		t.Run(client, func(t *testing.T) { command(t, pools, client, address(t)) })
	}
	t.Run("http", func(t *testing.T) {
		command(t, cocoon, "build", "-cocoon.pkgs=./pools,net/http", "-o", pools, "./pools")
		command(t, pools, "http", redirecting(t))
	})
}

// command runs a command, which must succeed.
func command(t *testing.T, name string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, out)
	}
}

// redirecting starts an HTTP server that redirects each request, and then answers with the query.
func redirecting(t testing.TB) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/redirect" {
			http.Redirect(w, r, "/?"+r.URL.RawQuery, http.StatusFound)
			return
		}
		io.WriteString(w, r.URL.RawQuery)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// memcacheServer starts a server that knows the commands set and gets of memcached.
func memcacheServer(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	tasktest.Must(t, err)
	t.Cleanup(func() { l.Close() })
	var values sync.Map
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serveMemcache(c, &values)
			}()
		}
	}()
	return l.Addr().String()
}

// serveMemcache serves a connection until it ends, or until the client breaks the protocol.
func serveMemcache(c net.Conn, values *sync.Map) {
	r := bufio.NewReader(c)
	for {
		line, err := r.ReadString('\n')
		words := strings.Fields(line)
		switch {
		case err != nil:
			return
		case len(words) == 5 && words[0] == "set":
			var size int
			fmt.Sscan(words[4], &size)
			value := make([]byte, size+len("\r\n"))
			if _, err := io.ReadFull(r, value); err != nil {
				return
			}
			values.Store(words[1], value)
			io.WriteString(c, "STORED\r\n")
		case len(words) == 2 && words[0] == "gets":
			if value, ok := values.Load(words[1]); ok {
				fmt.Fprintf(c, "VALUE %s 0 %d 1\r\n%s", words[1], len(value.([]byte))-len("\r\n"), value)
			}
			io.WriteString(c, "END\r\n")
		default:
			fmt.Fprintf(c, "ERROR %q\r\n", line)
		}
	}
}
