//go:build unix

package cocoon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/kernel"
)

// A stopped process does not run: a limit of 400 ms does not throw into a task because its process
// stood still for a second, however often. TestMain of the child prints the result.
func TestStoppedProcessDoesNotRun(t *testing.T) {
	if os.Getenv("COCOON_STOPPED") != "" {
		stoppedChild(t)
		return
	}
	t.Parallel() // its time is that of the child
	cmd := exec.Command(os.Args[0], "-test.run=^TestStoppedProcessDoesNotRun$", "-test.v")
	cmd.Env = append(os.Environ(), "COCOON_STOPPED=1")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil || !strings.Contains(out.String(), "nothing was thrown") {
				t.Errorf("%v\n%s", err, out.String())
			}
			return
		case <-time.After(30 * time.Millisecond):
			_ = cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(120 * time.Millisecond)
			_ = cmd.Process.Signal(syscall.SIGCONT)
		}
	}
}

// stoppedChild runs a task that uses 150 ms of processor time, under a limit of 400 ms, while its
// process runs for 30 of every 150 ms.
func stoppedChild(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "s", Limit: 400 * time.Millisecond})
	must(t, err)
	begin := time.Now()
	h := rt.Go(background, "job", func(ctx context.Context) error {
		return inSection(ctx, "s", func() error {
			for from := kernel.ProcessCPU(); kernel.ProcessCPU()-from < int64(150*time.Millisecond); {
				SafePoint(ctx)
			}
			return nil
		})
	})
	if err := h.Wait(background); err != nil {
		t.Fatalf("%v after %v; %+v", err, time.Since(begin), h.Account())
	}
	fmt.Printf("nothing was thrown in %v; %+v\n", time.Since(begin), h.Account())
}
