package cocoonhttp

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

var (
	scripts     = flag.Int("scripts", 0, "how many raw scripts TestScripts sends; 0: 300, and fewer in the short form")
	scriptsSeed = flag.Uint64("scripts.seed", 0, "of the scripts; 0: one of the time")
)

// TestScripts checks that clients receive the same over HTTP/1 with the middleware as without,
// whatever they send and in whatever pieces. make chaos sends many more scripts.
func TestScripts(t *testing.T) {
	t.Parallel() // other parallel tests wait meanwhile
	seed := *scriptsSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	all := handlers(t)
	var paths []string
	mux := http.NewServeMux()
	for name, h := range all {
		path := "/" + strings.NewReplacer(" ", "-", ",", "").Replace(name)
		paths = append(paths, path)
		mux.HandleFunc(path, h)
	}
	slices.Sort(paths)
	rt := tasktest.Start(t, cocoon.Config{})
	hybrid, stock := serve(t, outer(Middleware(rt, Options{})(mux))), serve(t, outer(mux))
	many := *scripts
	if many == 0 {
		many = longtest.Count(300, 50)
	}
	for i := range many {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		s := newScript(rng, paths)
		got, want := s.send(t, hybrid), s.send(t, stock)
		for range 10 { // a server that closes early resets; what arrives before varies
			if got == want {
				break
			}
			got, want = s.send(t, hybrid), s.send(t, stock)
		}
		if got != want {
			t.Fatalf("-scripts.seed=%d, number %d: %.300q\ngot\n%.1000q\nwant\n%.1000q", seed, i, s.text, got, want)
		}
	}
}

// script is what a client sends, and how it splits it into writes.
type script struct {
	text    string
	methods []string
	pieces  []int
}

func newScript(rng *rand.Rand, paths []string) (s script) {
	var b strings.Builder
	n := 1 + rng.IntN(4)
	for i := range n {
		s.methods = append(s.methods, rawRequest(rng, &b, paths[rng.IntN(len(paths))], i == n-1))
	}
	s.text = b.String()
	for range rng.IntN(4) {
		s.pieces = append(s.pieces, rng.IntN(len(s.text)))
	}
	s.pieces = append(s.pieces, len(s.text))
	slices.Sort(s.pieces)
	return s
}

// rawRequest writes a request, and returns its method. After the last request the server closes the
// connection.
func rawRequest(rng *rand.Rand, b *strings.Builder, path string, last bool) (method string) {
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	method = pick("GET", "GET", "HEAD", "POST", "POST", "PUT", "DELETE", "OPTIONS")
	version := pick("1.1", "1.1", "1.1", "1.0")
	target := pick(path, path, path, "http://a"+path, path+"?q=1", "/nowhere", "*")
	fmt.Fprintf(b, "%s %s HTTP/%s\r\n", method, target, version)
	b.WriteString(pick("Host: a\r\n", "Host: a\r\n", "Host: a\r\n", "Host: a\r\nX-Long: "+strings.Repeat("y", 5000)+"\r\n", "Host: a\r\nX: 1\r\nX: 2\r\n", "Host: a\r\n Folded: 1\r\n", "Host: a\r\nHost: b\r\n", ""))
	switch {
	case last:
		b.WriteString("Connection: close\r\n")
	case version == "1.0":
		b.WriteString(pick("Connection: keep-alive\r\n", ""))
	default:
		b.WriteString(pick("", "", "", "Connection: close\r\n"))
	}
	if method != "POST" && method != "PUT" && rng.IntN(8) != 0 {
		b.WriteString("\r\n")
		return method
	}
	b.WriteString(pick("", "", "", "Expect: 100-continue\r\n", "Expect: something\r\n"))
	body := strings.Repeat("b", []int{0, 1, 5, 100, 5000, 100_000}[rng.IntN(6)])
	if version == "1.0" || rng.IntN(2) == 0 {
		fmt.Fprintf(b, "Content-Length: %d\r\n\r\n%s", len(body), body)
		return method
	}
	trailer := pick("", "", "X-Sum: 7\r\n")
	if trailer != "" {
		b.WriteString("Trailer: X-Sum\r\n")
	}
	b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
	for len(body) > 0 {
		n := 1 + rng.IntN(len(body))
		fmt.Fprintf(b, "%x%s\r\n%s\r\n", n, pick("", "", ";ext=1"), body[:n])
		body = body[n:]
	}
	b.WriteString(pick("0\r\n", "0\r\n", "0\r\n", "0\r\n", "z\r\n") + trailer + "\r\n")
	return method
}

// send sends the script, and describes everything that comes back.
func (s script) send(t *testing.T, to *httptest.Server) string {
	c, r := dial(t, to)
	defer c.Close()
	sent := make(chan struct{})
	defer func() { c.Close(); <-sent }()
	go func() {
		defer close(sent)
		from := 0
		for _, to := range s.pieces {
			c.Write([]byte(s.text[from:to])) // the server may have closed
			from = to
		}
	}()
	var all strings.Builder
	for i := 0; ; {
		method := s.methods[min(i, len(s.methods)-1)]
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return all.String() + " the end"
		}
		all.WriteString(describe(resp))
		if resp.StatusCode >= 200 {
			i++
		}
	}
}
