package cocoonhttp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// asked is one request of a client.
type asked struct {
	*plan
	method  string
	version string
	body    int // its length
	chunked bool
	last    bool
}

// ask makes up a request.
func ask(rng *rand.Rand, last bool) asked {
	a := asked{plan: planOf(rng.Uint64()), method: "GET", version: "1.1", last: last}
	switch rng.IntN(8) {
	case 0:
		a.method = "HEAD"
	case 1, 2, 3, 4:
		a.method, a.body, a.chunked = "POST", []int{1, 10, 3000, 20_000}[rng.IntN(4)], rng.IntN(3) == 0
	case 5:
		if last {
			a.version = "1.0"
		}
	}
	return a
}

// raw is the request as it is sent.
func (a asked) raw() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s /?n=%d HTTP/%s\r\nHost: a\r\n", a.method, a.number, a.version)
	if a.last {
		b.WriteString("Connection: close\r\n")
	}
	body := pattern(a.number, 0, a.body)
	switch {
	case a.body == 0:
		b.WriteString("\r\n")
	case !a.chunked:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", a.body, body)
	default:
		half := a.body / 2
		fmt.Fprintf(&b, "Transfer-Encoding: chunked\r\n\r\n")
		for _, part := range [][]byte{body[:half], body[half:]} {
			if len(part) > 0 {
				fmt.Fprintf(&b, "%x\r\n%s\r\n", len(part), part)
			}
		}
		b.WriteString("0\r\n\r\n")
	}
	return b.Bytes()
}

// check tells what an answer is: whole, refused, or cut. Anything else is an error.
func (a asked) check(resp *http.Response) (kind string, err error) {
	body, readErr := io.ReadAll(resp.Body)
	switch {
	case errors.Is(readErr, os.ErrDeadlineExceeded):
		return "", fmt.Errorf("%v: it stopped in the midst, after %d bytes", a, len(body))
	case readErr != nil:
		return "cut", nil
	case resp.StatusCode == 503:
		if resp.Header.Get("Retry-After") != "1" || resp.Header.Get("Cache-Control") != "" {
			return "", fmt.Errorf("%v: refused with %v", a, resp.Header)
		}
		return "refused", nil
	case resp.StatusCode == 422 && a.recovers && (a.method == "HEAD" || string(body) == "recovered"):
		return "recovered", nil
	case resp.StatusCode != 200:
		return "", fmt.Errorf("%v: %s %q", a, resp.Status, body)
	case a.method == "HEAD" && len(body) == 0:
		return "whole", nil
	case !bytes.Equal(body, pattern(a.number, 0, a.length)):
		return "", fmt.Errorf("%v: HTTP/%s %s: the client takes %d bytes for all (%v)", a, a.version, a.method, len(body), resp.Header)
	}
	return "whole", nil
}

// pipeline sends requests without waiting for answers, and checks each that comes. Some clients leave before the end.
func pipeline(address string, rng *rand.Rand, count func(kind string)) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	var all []asked
	var text []byte
	for n := 1 + rng.IntN(8); len(all) < n; {
		all = append(all, ask(rng, len(all) == n-1))
		text = append(text, all[len(all)-1].raw()...)
	}
	if rng.IntN(10) == 0 { // it leaves, in the midst of its requests or before its answers
		c.Write(text[:rng.IntN(len(text)+1)])
		count("left")
		return nil
	}
	sent, pieces := make(chan struct{}), 1+rng.IntN(3)
	defer func() { c.Close(); <-sent }()
	go func() {
		defer close(sent)
		for n := len(text)/pieces + 1; len(text) > 0; {
			c.Write(text[:min(n, len(text))])
			text = text[min(n, len(text)):]
		}
	}()
	return answered(all, bufio.NewReader(c), count)
}

// answered reads the answers to requests of one connection, in their order.
func answered(all []asked, r *bufio.Reader, count func(kind string)) error {
	for i := 0; i < len(all); {
		a := all[i]
		resp, err := http.ReadResponse(r, &http.Request{Method: a.method})
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return fmt.Errorf("%v, the %d. of %d on its connection: no answer within %v", a, i+1, len(all), patience)
		case err != nil:
			count("unanswered")
			return nil
		case resp.StatusCode < 200:
			continue
		}
		kind, err := a.check(resp)
		if err != nil {
			return err
		}
		if count(kind); resp.Close || kind == "cut" {
			return nil
		}
		i++
	}
	return nil
}

func (p *plan) query() string { return strconv.FormatUint(p.number, 10) }
