//go:build unix

package gobuild

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// hang is a tool that compiles forever, and signals its start by opening a pipe.
func hang(pipe string, tool []string) (int, error) {
	if tool[len(tool)-1] == "-V=full" {
		return run(tool)
	}
	f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	select {}
}

// TestInterrupt interrupts the whole process group, as a terminal does.
func TestInterrupt(t *testing.T) {
	m := newModule(t, gomod+"-- main.go --\npackage main\n\nfunc main() {}\n")
	m.unique(t, "main")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	var out bytes.Buffer
	c := exec.Command(program, "cocoon", "build", "-C", string(m), "-toolexec", program+" hang "+pipe, "-o", os.DevNull, ".")
	// The go command leaves its folder when interrupted.
	c.Env = append(os.Environ(), "GOTMPDIR="+t.TempDir())
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	hangs := make(chan error, 1)
	go func() {
		f, err := os.Open(pipe)
		if err == nil {
			err = f.Close()
		}
		hangs <- err
	}()
	select {
	case err := <-ended:
		t.Fatalf("the build ended by itself: %v\n%s", err, out.Bytes())
	case err := <-hangs:
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Kill(-c.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := <-ended; !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("after an interrupt the build ended with %v; want exit code 1\n%s", err, out.Bytes())
	}
}
