package cocoonhttp

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// The folders of the guide's server, with Cocoon and before it.
const (
	quickstart = "../examples/quickstart"
	plain      = quickstart + "/plain"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	tasktest.Must(t, err)
	return string(text)
}

// diff returns all lines of two texts, each prefixed by ' ', '-' or '+'.
func diff(before, after string) (lines []string) {
	a, b := strings.Split(strings.TrimSuffix(before, "\n"), "\n"), strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	// common[i][j] is how many lines a[i:] and b[j:] have in common.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			lines = append(lines, " "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, "-"+a[i])
			i++
		default:
			lines = append(lines, "+"+b[j])
			j++
		}
	}
	return lines
}

// TestGuideText checks that docs/guide.md shows the programs built and run here, and that the
// programs are as short as it says.
func TestGuideText(t *testing.T) {
	before, after := read(t, plain+"/main.go"), read(t, quickstart+"/main.go")
	lines := diff(before, after)
	added, removed := 0, 0
	for _, l := range lines {
		switch l[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	if n := strings.Count(before, "\n"); n > 40 || added > 10 || removed > added {
		t.Errorf("%d lines become a Cocoon server by %d more, in place of %d", n, added, removed)
	}
	text := read(t, "../docs/guide.md")
	for language, want := range map[string]string{"diff": strings.Join(lines, "\n") + "\n", "yaml": read(t, quickstart+"/policies.yaml")} {
		blocks := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1)
		if len(blocks) != 1 || blocks[0][1] != want {
			t.Errorf("docs/guide.md has %d blocks of %s; want one:\n%s", len(blocks), language, want)
		}
	}
}

// TestGuideServers runs both servers.
func TestGuideServers(t *testing.T) {
	longtest.Skip(t, "it builds two servers")
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGTERM")
	}
	for _, folder := range []string{plain, quickstart} {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "server")
			build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
			build.Dir = folder // examples is a module of its own
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("go build: %v\n%s", err, out)
			}
			free, err := net.Listen("tcp", "127.0.0.1:0")
			tasktest.Must(t, err)
			addr := free.Addr().String()
			free.Close()
			server := exec.Command(program)
			server.Dir, server.Env = folder, append(os.Environ(), "ADDR="+addr)
			var log bytes.Buffer
			server.Stdout, server.Stderr = &log, &log
			tasktest.Must(t, server.Start())
			defer server.Process.Kill()
			tasktest.Eventually(t, "the server", func() bool {
				c, err := net.Dial("tcp", addr)
				if err == nil {
					c.Close()
				}
				return err == nil
			})
			ask := func(path string) (int, string) {
				client := http.Client{Timeout: tasktest.Patience}
				defer client.CloseIdleConnections()
				resp, err := client.Get("http://" + addr + path)
				if err != nil {
					return 0, err.Error()
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				tasktest.Must(t, err)
				return resp.StatusCode, string(body)
			}
			if status, body := ask("/items/7"); status != 200 || body != "item 7\n" {
				t.Errorf("item: %d %q", status, body)
			}
			if status, body := ask("/report?rows=1000"); status != 200 || len(body) != 65 {
				t.Errorf("report: %d %q", status, body)
			}
			if folder == quickstart {
				if status, body := ask("/report?rows=1000000000000"); status != 503 {
					t.Errorf("endless report: %d %q", status, body)
				}
			}
			tasktest.Must(t, server.Process.Signal(syscall.SIGTERM))
			ended := make(chan error, 1)
			go func() { ended <- server.Wait() }()
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("%v\n%s", err, &log)
				}
			case <-time.After(tasktest.Patience):
				t.Error("the server does not end")
			}
		})
	}
}
