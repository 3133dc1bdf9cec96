package goroutine

import (
	"os/exec"
	"runtime"
	"sync"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

func TestIDDiffersAmongLivingGoroutines(t *testing.T) {
	const living = 10_000
	for name, id := range map[string]func() uintptr{"ID": ID, "number": number} {
		t.Run(name, func(t *testing.T) {
			ids := make([]uintptr, living)
			var known, ended sync.WaitGroup
			release := make(chan struct{})
			known.Add(living)
			for i := range ids {
				ended.Go(func() {
					ids[i] = id()
					known.Done()
					<-release // stays alive until every goroutine has its ID
					if again := id(); again != ids[i] {
						t.Errorf("goroutine %d: id %#x, later %#x", i, ids[i], again)
					}
				})
			}
			known.Wait()
			seen := map[uintptr]int{id(): -1}
			for i, v := range ids {
				if v == 0 {
					t.Fatalf("goroutine %d has the id 0", i)
				}
				if other, ok := seen[v]; ok {
					t.Fatalf("goroutines %d and %d share the id %#x", other, i, v)
				}
				seen[v] = i
			}
			close(release)
			ended.Wait()
		})
	}
}

//go:noinline
func deep(levels int, id func() uintptr) uintptr {
	var frame [1024]byte
	if levels == 0 {
		return id()
	}
	frame[levels%len(frame)] = 1
	return deep(levels-1, id) + uintptr(frame[(levels+1)%len(frame)])
}

func TestIDIsStable(t *testing.T) {
	first, firstNumber := ID(), number()
	check := func(t *testing.T, when string) {
		t.Helper()
		if id := ID(); id != first {
			t.Fatalf("%s: id %#x, was %#x", when, id, first)
		}
		if n := number(); n != firstNumber {
			t.Fatalf("%s: number %d, was %d", when, n, firstNumber)
		}
	}
	if id := deep(2000, ID); id != first {
		t.Fatalf("on a grown stack: id %#x, was %#x", id, first)
	}
	runtime.GC() // shrinks the stack again, which moves it
	check(t, "after the stack shrank")

	runtime.LockOSThread()
	check(t, "locked to its thread")
	runtime.UnlockOSThread()
	check(t, "unlocked again")

	func() {
		defer func() {
			recover()
			check(t, "while recovering")
		}()
		panic("probe")
	}()

	// More goroutines keep every P busy, so that this goroutine is preempted, queued, stolen and
	// moved between threads.
	stop := make(chan struct{})
	var others sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		others.Go(func() {
			for own := ID(); ; runtime.Gosched() {
				select {
				case <-stop:
					return
				default:
				}
				if id := ID(); id != own {
					t.Errorf("another goroutine's id changed from %#x to %#x", own, id)
					return
				}
			}
		})
	}
	for range 5000 {
		runtime.Gosched()
		if id := ID(); id != first {
			t.Errorf("after being rescheduled: id %#x, was %#x", id, first)
			break
		}
	}
	close(stop)
	others.Wait()
}

// TestEveryArchitectureBuilds checks that the package builds for every architecture: two have
// assembly, the rest works without, whatever the word size.
func TestEveryArchitectureBuilds(t *testing.T) {
	longtest.Skip(t, "it builds a part of the standard library for each architecture")
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	for _, target := range [][2]string{
		{"linux", "amd64"}, {"linux", "arm64"}, {"linux", "riscv64"}, {"linux", "386"}, {"darwin", "arm64"}, {"windows", "amd64"},
	} {
		verb := "build"
		if target[1] == "arm64" && target[0] == "linux" {
			verb = "vet" // it also checks the frames of assembly, and builds what tests import
		}
		cmd := exec.Command(goTool, verb, ".")
		cmd.Env = append(cmd.Environ(), "GOOS="+target[0], "GOARCH="+target[1], "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s/%s: %v\n%s", target[0], target[1], err, out)
		}
	}
}

func BenchmarkID(b *testing.B) {
	b.Run("ID", func(b *testing.B) {
		for range b.N {
			ID()
		}
	})
	b.Run("number", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			number()
		}
	})
}
