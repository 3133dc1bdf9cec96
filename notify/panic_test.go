package notify

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestPanicInTheHandlerEndsTheProcess checks that a panic in a handler ends the process with the
// handler's trace. The test runs itself as a child for that.
func TestPanicInTheHandlerEndsTheProcess(t *testing.T) {
	const mark = "NOTIFY_TEST_PANIC"
	if os.Getenv(mark) != "" {
		timer := NewTimer(func(int64) int64 { panic("the handler's own") })
		timer.WakeAt(0)
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), mark+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "panic: the handler's own") || !strings.Contains(string(out), "notify.(*Timer).run") {
		t.Fatalf("the process ended with %v and said:\n%s", err, out)
	}
}
