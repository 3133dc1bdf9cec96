// Package servers starts the servers that tests and benchmarks talk to: PostgreSQL, MySQL or
// MariaDB, and Redis. Each server is a separate process in a temporary folder, on loopback, as an
// unprivileged user. If an environment variable gives the address of a running server, that server
// is used instead:
//
//	COCOON_TEST_POSTGRES=postgres://user:password@host/database
//	COCOON_TEST_MYSQL=user:password@tcp(host:port)/database
//	COCOON_TEST_REDIS=host:port
package servers

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// ErrMissing is wrapped by errors about a missing server, which also say how to install it.
var ErrMissing = errors.New("not installed")

// Server is a running server. Stop ends it, if this package started it.
type Server struct {
	Address string // a DSN for drivers of database/sql, host:port of Redis
	dir     string
	command *exec.Cmd
	life    io.Closer // when it is closed, or this process ends, the server ends
}

// kind describes a kind of server.
type kind struct {
	name, variable string
	debian         string // the package
	user           string // the user that Debian's package creates
	program        []string
	prepare        func(s *Server, dir string) error
	arguments      func(dir string, port int) []string
	address        func(port int) string
	ping           func(address string) error
	signal         string // stops the server at once
}

// start starts a server, or returns the server that the environment names.
func (k kind) start() (*Server, error) {
	if at := os.Getenv(k.variable); at != "" {
		return &Server{Address: at}, k.ping(at)
	}
	program := find(k.program...)
	if program == "" {
		return nil, fmt.Errorf("%s is %w: apt-get install %s, or set %s to the address of one that runs", k.name, ErrMissing, k.debian, k.variable)
	}
	dir, err := os.MkdirTemp("", "cocoon-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	if err := s.launch(k, program); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w\n%s", k.name, err, s.log()), s.Stop())
	}
	return s, nil
}

func (s *Server) launch(k kind, program string) error {
	if err := give(s.dir, k.user); err != nil {
		return err
	}
	if k.prepare != nil {
		if err := k.prepare(s, filepath.Join(s.dir, "data")); err != nil {
			return err
		}
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	// The shell ends the server when this process ends for any reason: its standard input is closed
	// then.
	watch := `"$@" & pid=$!; cat; kill -` + k.signal + ` $pid; wait $pid`
	arguments := append([]string{"-c", watch, "sh", program}, k.arguments(filepath.Join(s.dir, "data"), port)...)
	s.command = s.as(k.user, "sh", arguments...)
	if s.life, err = s.command.StdinPipe(); err != nil {
		return err
	}
	if err := s.command.Start(); err != nil {
		s.command = nil
		return err
	}
	s.Address = k.address(port)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if err = k.ping(s.Address); err == nil || time.Now().After(end) {
			return err
		}
	}
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() (err error) {
	if s.command != nil {
		s.life.Close()
		s.command.Wait() // a server ended by a signal is not an error
		s.command = nil
	}
	if s.dir != "" {
		err = os.RemoveAll(s.dir)
	}
	return err
}

// as returns a command in the server's folder that runs as the user, if this process may do so; its
// output goes to the log.
func (s *Server) as(user, program string, arguments ...string) *exec.Cmd {
	c := exec.Command(program, arguments...)
	c.Dir = s.dir
	if log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666); err == nil {
		c.Stdout, c.Stderr = log, log // the few open files are closed when the process ends
	}
	become(c, user)
	return c
}

// log returns the end of the server's output.
func (s *Server) log() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(text[max(0, len(text)-2000):])
}

// find returns the path of the first program that exists. Debian installs PostgreSQL's programs
// outside PATH, and daemons in folders that only root has in PATH.
func find(names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
		slices.Sort(found)
		for _, path := range append(found, "/usr/sbin/"+name) {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	return ""
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
