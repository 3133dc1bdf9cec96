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

	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// asked is one request of a client.
type asked struct {
	*plan
	method  string
	version string
	body    int // its length
	chunked bool
	last    bool
	expects bool // it sends its body when the server tells it to continue
}

// ask returns a random request.
func ask(rng *rand.Rand, last bool) asked {
	a := asked{plan: planOf(rng.Uint64()), method: "GET", version: "1.1", last: last}
	switch rng.IntN(8) {
	case 0:
		a.method = "HEAD"
	case 1, 2, 3, 4:
		a.method, a.body, a.chunked = "POST", []int{1, 10, 3000, 20_000}[rng.IntN(4)], rng.IntN(3) == 0
		a.expects = rng.IntN(6) == 0
	case 5:
		if last {
			a.version = "1.0"
		}
	}
	return a
}

// raw returns the request as it is sent: its header, and its body.
func (a asked) raw() (header, content []byte) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s /?n=%d HTTP/%s\r\nHost: a\r\n", a.method, a.number, a.version)
	if a.last {
		b.WriteString("Connection: close\r\n")
	}
	if a.expects {
		b.WriteString("Expect: 100-continue\r\n")
	}
	body := pattern(a.number, 0, a.body)
	switch {
	case a.body == 0:
		b.WriteString("\r\n")
		return b.Bytes(), nil
	case !a.chunked:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", a.body)
		return b.Bytes(), body
	}
	b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
	for _, part := range [][]byte{body[:a.body/2], body[a.body/2:]} {
		if len(part) > 0 {
			content = fmt.Appendf(content, "%x\r\n%s\r\n", len(part), part)
		}
	}
	return b.Bytes(), append(content, "0\r\n\r\n"...)
}

// overdue is what check reports of a response that does not end in time.
const overdue = "late"

// check reports whether a response is whole, refused or cut. Anything else is an error.
func (a asked) check(resp *http.Response) (kind string, err error) {
	body, readErr := io.ReadAll(resp.Body)
	switch {
	case errors.Is(readErr, os.ErrDeadlineExceeded):
		return overdue, fmt.Errorf("%v: it stopped in the midst, after %d bytes", a, len(body))
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

// pipeline sends requests without waiting for responses, and checks each response that comes. Some
// clients leave before the end, and some say that they send no more.
func pipeline(address string, rng *rand.Rand, count func(kind string)) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(tasktest.Patience))
	var all []asked
	var parts [][]byte // the server tells the client to continue before each but the first
	var text []byte
	for n := 1 + rng.IntN(8); len(all) < n; {
		a := ask(rng, len(all) == n-1)
		header, content := a.raw()
		all, text = append(all, a), append(text, header...)
		if a.expects {
			parts, text = append(parts, text), nil
		}
		text = append(text, content...)
	}
	parts = append(parts, text)
	if rng.IntN(10) == 0 { // it leaves while it sends its requests, or before their responses
		c.Write(parts[0][:rng.IntN(len(parts[0])+1)])
		count("left")
		return nil
	}
	p := sender{c: c, told: make(chan struct{}, len(parts)), pieces: 1 + rng.IntN(3), halfClose: rng.IntN(10) == 0, rng: rand.New(rand.NewPCG(rng.Uint64(), 0))}
	sent := make(chan struct{})
	defer func() { c.Close(); <-sent }()
	go func() {
		defer close(sent)
		p.send(parts)
	}()
	return answered(all, bufio.NewReader(c), p, count)
}

// sender sends the requests of one connection.
type sender struct {
	c         net.Conn
	told      chan struct{} // has an element each time the server tells the client to continue
	pieces    int           // of each part; 3: of random lengths
	halfClose bool          // it says that it sends no more
	rng       *rand.Rand
}

func (p sender) send(parts [][]byte) {
	for i, text := range parts {
		if i > 0 {
			select { // a server whose handler panics waits for the body, and does not say so
			case <-p.told:
			case <-time.After(20 * time.Millisecond):
			}
		}
		for n := len(text)/p.pieces + 1; len(text) > 0; {
			if p.pieces == 3 {
				n = 1 + p.rng.IntN(min(len(text), 4096))
				if p.rng.IntN(8) == 0 {
					time.Sleep(time.Duration(p.rng.IntN(1000)) * time.Microsecond)
				}
			}
			p.c.Write(text[:min(n, len(text))])
			text = text[min(n, len(text)):]
		}
	}
	if p.halfClose {
		p.c.(*net.TCPConn).CloseWrite()
	}
}

// answered reads the responses to the requests of one connection, in their order.
func answered(all []asked, r *bufio.Reader, p sender, count func(kind string)) error {
	for i := 0; i < len(all); {
		a := all[i]
		resp, err := http.ReadResponse(r, &http.Request{Method: a.method})
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return fmt.Errorf("%v, the %d. of %d on its connection: no response within %v", a, i+1, len(all), tasktest.Patience)
		case err != nil:
			count("unanswered")
			return nil
		case resp.StatusCode == http.StatusContinue:
			p.told <- struct{}{}
			continue
		case resp.StatusCode < 200:
			continue
		}
		kind, err := a.check(resp)
		if err != nil && (p.halfClose || *chaosPlain) && kind != overdue {
			// After half a close, net/http ends the context of the handler, which gives up. With
			// net/http alone, clients take some cut responses for whole.
			count("incomplete")
			return nil
		} else if err != nil {
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
