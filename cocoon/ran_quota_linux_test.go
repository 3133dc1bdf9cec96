package cocoon

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/notify"
)

// A process with a fifth of a processor stands still most of the time. A limit of eight times the
// processor time that a task needs throws into none of five tasks, although each takes longer in
// real time.
func TestThrottledProcessDoesNotRun(t *testing.T) {
	if os.Getenv("COCOON_THROTTLED") != "" {
		throttledChild(t)
		return
	}
	t.Parallel() // its time is that of the child
	group := quota(t, 0.2)
	cmd := exec.Command(os.Args[0], "-test.run=^TestThrottledProcessDoesNotRun$", "-test.v")
	cmd.Env = append(os.Environ(), "COCOON_THROTTLED=1")
	gate, err := cmd.StdinPipe()
	must(t, err)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	must(t, os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644))
	must(t, gate.Close())
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "nothing was thrown") {
		t.Errorf("%v\n%s", err, out.String())
	}
	stat, err := os.ReadFile(filepath.Join(group, "cpu.stat"))
	must(t, err)
	if strings.Contains(string(stat), "nr_throttled 0\n") {
		t.Skipf("the kernel has not throttled the process: %s", stat)
	}
	t.Log(strings.TrimSpace(out.String()))
}

// quota makes a control group with that many processors, and returns its folder. It skips the test
// if it cannot make one.
func quota(t *testing.T, processors float64) string {
	t.Helper()
	const period = 100_000 // µs
	share := int(processors * period)
	name := fmt.Sprintf("cocoon-test-%d", os.Getpid())
	var why error
	for _, kind := range []struct{ root, file, text string }{
		{"/sys/fs/cgroup", "cpu.max", fmt.Sprintf("%d %d", share, period)},
		{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", strconv.Itoa(share)},
	} {
		group := filepath.Join(kind.root, name)
		if why = os.Mkdir(group, 0o755); why != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(group) })
		if why = writeExisting(filepath.Join(group, kind.file), kind.text); why == nil {
			return group
		}
	}
	t.Skip("no control group with a quota can be made here (it takes root, and the controller cpu):", why)
	return ""
}

// writeExisting writes a file without creating it, because a created file would not be the
// kernel's.
func writeExisting(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

func throttledChild(t *testing.T) {
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil { // until the quota is in force
		t.Fatal(err)
	}
	rt := start(t, Config{Slots: 2})
	needs := time.Duration(longtest.Count(60, 25)) * time.Millisecond
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "job", Limit: 8 * needs})
	must(t, err)
	var jobs []*Handle
	begin := time.Now()
	for range 5 {
		jobs = append(jobs, rt.Go(background, "job", func(ctx context.Context) error {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for from := threadCPU(); threadCPU()-from < needs; {
				SafePoint(ctx)
			}
			return nil
		}))
	}
	for _, h := range jobs {
		if err := h.Wait(background); err != nil {
			t.Fatalf("%v after %v; %+v", err, time.Since(begin), h.Account())
		}
	}
	fmt.Printf("nothing was thrown in %v\n", time.Since(begin))
}

// threadCPU returns the processor time of the calling thread.
func threadCPU() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var used syscall.Rusage
	if err := syscall.Getrusage(thread, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// A task gives up its slot after its process has stood still, before the timer has looked at it. A
// time in which the process used no processor does not count as running.
func TestStandstillBeforeTheSlotIsGivenUp(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	h := rt.Go(background, "stands still", func(ctx context.Context) error {
		s, l := strandOf(ctx), rt.Loop()
		l.lockAll()
		s.sampled = notify.Now()
		s.checked().cpuAt, s.checked().ranAt = kernel.ProcessCPU(), s.core.Ran(s.sampled)
		l.unlock()
		for begin := s.sampled; notify.Now()-begin < int64(200*time.Millisecond); {
			pause := unix.NsecToTimespec(int64(10 * time.Millisecond))                 // until a signal comes
			unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&pause)), 0, 0) // Go sees it running
		}
		Yield(ctx)
		return nil
	})
	must(t, h.Wait(background))
	if a := h.Account(); a.Running > 150*time.Millisecond || a.Starved < 100*time.Millisecond {
		t.Errorf("%+v", a)
	}
}
