package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoondebug"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

const inForce = "version: 1\nstates: {most: 3}\npolicies:\n" +
	"  - {name: shed, on: enqueue, expr: 'queue.length > state.most ? throw(\"busy\") : continue()'}\n" +
	"  - {name: other, on: enqueue, expr: 'queue.length > 9 ? throw(\"much\") : continue()'}\n"

// serving returns the address of a server that has loaded documents.
func serving(t *testing.T, files ...string) (*cocoon.Runtime, string) {
	t.Helper()
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	for _, file := range files {
		tasktest.Must(t, rt.LoadPolicyFile(file))
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/cocoon/", cocoondebug.Handler(rt, cocoondebug.Options{}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return rt, server.URL
}

// A document and a server are compared as two files are, in both directions.
func TestDiffOfServer(t *testing.T) {
	file := files(t)
	was := file("policies.yaml", inForce)
	next := file("next.yaml", strings.Replace(inForce, "> 9", "> 8", 1))
	rt, server := serving(t, was)
	for _, pair := range [][3]string{{was, next}, {next, was}} {
		_, want, _ := command("", "policy", "diff", pair[0], pair[1])
		for _, flags := range [][]string{nil, {"-json"}} {
			sides := pair
			for i, side := range sides[:2] {
				if side == was {
					sides[i] = server + "/debug/cocoon/"
				}
			}
			if flags != nil {
				_, want, _ = command("", "policy", "diff", "-json", pair[0], pair[1])
			}
			args := append(append([]string{"policy", "diff"}, flags...), sides[:2]...)
			if code, out, err := command("", args...); code != exitFound || out != want || !strings.Contains(out, "> 8") || err != "" {
				t.Errorf("cocoon %q: exit code %d\n got %q\nwant %q\n%s", args, code, out, want, err)
			}
		}
	}
	if code, out, err := command("", "policy", "diff", server, was); code != exitOK || out != "" || err != "" {
		t.Errorf("the same document: exit code %d: %s%s", code, out, err)
	}
	address := strings.TrimPrefix(server, "http://") // as for top
	for _, page := range []string{address, address + "/debug/cocoon/", address + "#" + was} {
		if code, out, err := command("", "policy", "diff", page, was); code != exitOK || out != "" || err != "" {
			t.Errorf("%s: exit code %d: %s%s", page, code, out, err)
		}
	}
	tasktest.Must(t, rt.Policy("shed").SetMode(cocoon.Observe))
	rt.Policy("other").Cancel()
	const changes = "~ policy \"other\": it starts again, because it is not in force\n~ policy \"shed\": mode: observe -> enforce\n"
	if code, out, err := command("", "policy", "diff", server, was); code != exitFound || out != changes || err != "" {
		t.Errorf("other modes: exit code %d: %s%s", code, out, err)
	}
}

// Of several documents the one with the name of the file is compared, or the one that is named.
func TestDiffOfServerWithDocuments(t *testing.T) {
	folder := t.TempDir()
	in := func(name, text string) string {
		path := filepath.Join(folder, name)
		tasktest.Must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	one, two := in("one.yaml", inForce), in("two b.yaml", "version: 1\ntasks: {a: safe}\n")
	_, server := serving(t, one, two)
	for _, test := range []struct {
		old, new string
		code     int
		says     string
	}{
		{server, one, exitOK, ""},
		{server, two, exitOK, ""},
		{server + "#" + strings.ReplaceAll(two, " ", "%20"), one, exitFound, "- task \"a\""},
		{server + "#none", one, exitUsage, fmt.Sprintf("has no document \"none\"; it has %q, %q", one, two)},
		{server, "-", exitUsage, "write URL#FILE"},
	} {
		if code, out, err := command("version: 1\n", "policy", "diff", test.old, test.new); code != test.code || !strings.Contains(out+err, test.says) {
			t.Errorf("%s %s: exit code %d, %s%s; want %d, %q", test.old, test.new, code, out, err, test.code, test.says)
		}
	}
}

// A file is compared as a file, even if its name could be the address of a page.
func TestDiffOfFileLikeAnAddress(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"localhost:1", "policies.yaml"} {
		tasktest.Must(t, os.WriteFile(name, []byte(inForce), 0o600))
	}
	if code, out, err := command("", "policy", "diff", "localhost:1", "policies.yaml"); code != exitOK || out != "" || err != "" {
		t.Errorf("exit code %d: %s%s", code, out, err)
	}
	if _, _, err := command("", "policy", "diff", "none:yaml", "policies.yaml"); !strings.Contains(err, "no such file") {
		t.Errorf("a file that is missing: %s", err)
	}
}

// What is no page, or no server, is said.
func TestDiffRefusesServers(t *testing.T) {
	file := files(t)("policies.yaml", inForce)
	defer func(d time.Duration, n int64) { diffWithin, maxFetched = d, n }(diffWithin, maxFetched)
	diffWithin, maxFetched = 200*time.Millisecond, 1<<10
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	tasktest.Must(t, err)
	gone.Close()
	_, none := serving(t)
	served := func(h http.HandlerFunc) string {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return server.URL
	}
	answered := func(text string) string {
		return served(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(text))
		})
	}
	document, _ := json.Marshal(cocoondebug.Documents{Documents: []cocoondebug.Document{{File: "a", Text: "version: 9\n"}}})
	for _, test := range []struct {
		url  string
		code int
		says string
	}{
		{"http://" + gone.Addr().String(), exitUsage, "refused"},
		{none, exitUsage, "has loaded no document from a file"},
		{served(http.NotFound), exitUsage, "404 Not Found"},
		{served(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>\x1b[31m")) }), exitUsage, `want the page of package cocoondebug: "<html>\x1b[31m"`},
		{answered("{}"), exitUsage, "JSON of something else"},
		{answered("[1]"), exitUsage, "cannot unmarshal"},
		{answered(`{"documents":[` + string(bytes.Repeat([]byte(" "), 2<<10)) + "]}"), exitUsage, "more than 1024 bytes"},
		{answered(string(document)), exitFound, "version"},
		{served(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), exitUsage, "not answered within 200ms"},
		{"ftp://localhost", exitUsage, "is not the address of a page"},
		{"http://localhost:1#%zz", exitUsage, "invalid URL escape"},
	} {
		if code, out, err := command("", "policy", "diff", file, test.url); code != test.code || !strings.Contains(err, test.says) || out != "" {
			t.Errorf("%s: exit code %d, %s%s; want %d, %q", test.url, code, out, err, test.code, test.says)
		}
	}
}
