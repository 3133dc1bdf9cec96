package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// With a folder, the id of a response of 503 leads to the line of the log with the branch of the
// policy and its values; the policies are loaded again when their file changes; and the metrics and
// the page tell of it.
func TestWiring(t *testing.T) {
	folder := t.TempDir()
	limited, stop, err := openCocoon(workHandler(1000), new(actions), folder)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	closePage, err := servePage(address, limited, handler(limited, new(actions)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := closePage(); err != nil {
			t.Error(err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	get := func(path string) (string, http.Header) {
		response, err := http.Get("http://" + address + path)
		if err != nil {
			t.Error(err)
			return "", nil
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Error(err)
		}
		return string(text), response.Header
	}
	ids := make(chan string, 200)
	var crowd sync.WaitGroup
	for range cap(ids) {
		crowd.Go(func() {
			if _, header := get(fmt.Sprintf("/batch?pieces=%d&tenant=free", maxPieces)); header.Get("X-Request-Id") != "" {
				ids <- header.Get("X-Request-Id")
			}
		})
	}
	crowd.Wait()
	if len(ids) == 0 {
		t.Fatal("no request was refused")
	}
	line := lineOf(t, filepath.Join(folder, "refusals.log"), <-ids)
	if !strings.HasPrefix(line.Err.Branch, filepath.Join(folder, "policies.yaml")+":") || len(line.Err.Because) == 0 || len(line.Err.Values) == 0 {
		t.Errorf("the log has %+v", line)
	}
	if err := os.WriteFile(filepath.Join(folder, "policies.yaml"), []byte(policies+"# changed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded := fmt.Sprintf("cocoon_document_loads_total{document=%q} 2", filepath.Join(folder, "policies.yaml"))
	tasktest.Eventually(t, loaded, func() bool {
		text, _ := get("/metrics")
		return strings.Contains(text, loaded)
	})
	if page, _ := get(pagePath); !strings.Contains(page, "Load "+folder) || !strings.Contains(page, "urgent-first") {
		t.Errorf("the page is\n%s", page)
	}
}

// refusal is a line of the log.
type refusal struct {
	Request string
	Err     struct {
		Branch  string
		Because []string
		Values  map[string]any
	}
}

// lineOf returns the line about a request.
func lineOf(t *testing.T, name, id string) refusal {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var r refusal
		if json.Unmarshal(lines.Bytes(), &r) == nil && r.Request == id {
			return r
		}
	}
	t.Fatalf("%s has no line about %s", name, id)
	return refusal{}
}
