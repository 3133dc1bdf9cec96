package cocoonhttp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// pattern returns n bytes of the byte sequence that belongs to a number, starting at from.
func pattern(number uint64, from, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		at := uint64(from + i)
		b[i] = byte((number + at) * 0x9e3779b97f4a7c15 >> 56)
	}
	return b
}

// plan is what a request's handler does. It follows from its number alone, so client and server
// need not exchange it.
type plan struct {
	*rand.Rand
	number   uint64
	length   int // of the response
	declared bool
	recovers bool // it responds to a throw itself
}

func planOf(number uint64) *plan {
	p := &plan{Rand: rand.New(rand.NewPCG(number, 7)), number: number}
	sizes := []int{0, 1, 100, holdSize, holdSize + 1, 5000, 70_000}
	p.length = sizes[p.IntN(len(sizes))]
	p.declared, p.recovers = p.IntN(2) == 0, p.IntN(8) == 0
	return p
}

// chaos is a handler that carries out a request's plan, as carelessly as usual handlers: when a
// call fails, or its context has ended, it returns.
type chaos struct {
	http.ResponseWriter
	*plan
	r             *http.Request
	ctx           context.Context
	read, written int
	wrong         func(format string, args ...any)

	goroutines sync.WaitGroup
	ended      atomic.Bool
}

func chaosHandler(wrong func(format string, args ...any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		number, _ := strconv.ParseUint(r.URL.Query().Get("n"), 10, 64)
		c := &chaos{ResponseWriter: w, plan: planOf(number), r: r, ctx: r.Context(), wrong: wrong}
		func() {
			if c.recovers {
				defer c.rescue()
			}
			c.run()
		}()
		c.over()
	}
}

// over ends the handler's goroutines. A throw leaves them behind.
func (c *chaos) over() {
	c.ended.Store(true)
	c.goroutines.Wait()
}

func (c *chaos) run() {
	if c.declared {
		c.Header().Set("Content-Length", strconv.Itoa(c.length))
	}
	c.Header().Set("Cache-Control", "max-age=9")
	// With net/http alone, full duplex may end the process (golang/go#68560).
	if c.IntN(6) == 0 && cocoon.TaskOf(c.ctx) != nil {
		http.NewResponseController(c.ResponseWriter).EnableFullDuplex()
	}
	if task := cocoon.TaskOf(c.ctx); task != nil && c.IntN(4) == 0 {
		time.AfterFunc(time.Duration(c.IntN(2000))*time.Microsecond, task.Cancel)
	}
	for range c.IntN(6) {
		if !c.step() {
			return
		}
	}
	for c.written < c.length && c.write(c.IntN(20_000)) {
	}
}

// rescue responds to a throw as the handler's own code may, if the response has not begun.
func (c *chaos) rescue() {
	p := recover()
	if _, thrown := p.(*cocoon.PreemptedError); p != nil && !thrown {
		panic(p)
	}
	if p != nil && c.written == 0 {
		c.Header().Del("Content-Length")
		c.WriteHeader(http.StatusUnprocessableEntity)
		io.WriteString(c, "recovered")
	}
}

// step does one random thing, and reports whether the handler goes on.
func (c *chaos) step() bool {
	switch c.IntN(16) {
	case 0, 1:
		return c.readBody(c.IntN(3000))
	case 2, 3:
		return c.write(c.IntN(4000))
	case 4:
		return http.NewResponseController(c.ResponseWriter).Flush() == nil
	case 5:
		if c.r.ProtoAtLeast(1, 1) && c.written == 0 {
			c.WriteHeader(http.StatusEarlyHints)
		}
	case 6:
		if c.IntN(4) == 0 {
			throwInto(c.ctx)
		}
	case 7: // an unannounced wait
		select {
		case <-c.ctx.Done():
			return false
		case <-time.After(200 * time.Microsecond):
		}
	case 8:
		return c.sleep(300*time.Microsecond) == nil
	case 9:
		for begin := time.Now(); time.Since(begin) < 200*time.Microsecond; {
			cocoon.SafePoint(c.ctx)
		}
	case 10:
		return cocoon.BlockCall(c.ctx, c.ctx.Err) == nil
	case 11: // a goroutine that reads, as a proxy's client does
		var ok bool
		n := c.IntN(3000)
		cocoon.Block(c.ctx, func() error {
			var done sync.WaitGroup
			done.Go(func() { ok = c.readBody(n) })
			done.Wait()
			return nil
		})
		return ok
	case 12:
		return c.section()
	case 13:
		return c.pipe(c.IntN(4000))
	case 14:
		// Older clients take an incomplete response for whole, without the middleware too.
		if c.IntN(4) == 0 && c.r.ProtoAtLeast(1, 1) {
			c.over()
			panic(http.ErrAbortHandler)
		}
	case 15:
		c.extend()
	}
	return c.ctx.Err() == nil
}

// extend begins to extend the deadlines again and again, on a goroutine that a throw leaves behind.
// With net/http alone, that goroutine would set deadlines of the next request.
func (c *chaos) extend() {
	w := http.NewResponseController(c.ResponseWriter)
	c.goroutines.Go(func() {
		for !c.ended.Load() {
			if w.SetReadDeadline(time.Time{}) != nil || w.SetWriteDeadline(time.Now().Add(time.Hour)) != nil {
				return
			}
			time.Sleep(10 * time.Microsecond)
		}
	})
}

func (c *chaos) sleep(d time.Duration) error {
	return cocoon.Block(c.ctx, func() error {
		select {
		case <-c.ctx.Done():
			return c.ctx.Err()
		case <-time.After(d):
			return nil
		}
	})
}

// section is thrown into, by a limit, and the handler goes on.
func (c *chaos) section() bool {
	cocoon.Section(c.ctx, "chaos", func() (int, error) {
		for begin := time.Now(); time.Since(begin) < 3*time.Millisecond; {
			cocoon.SafePoint(c.ctx)
		}
		return 0, nil
	})
	return c.ctx.Err() == nil
}

func (c *chaos) readBody(n int) bool {
	b := make([]byte, n)
	n, err := io.ReadFull(c.r.Body, b)
	if !bytes.Equal(b[:n], pattern(c.number, c.read, n)) {
		c.wrong("request %d: its body is another's from byte %d on", c.number, c.read)
	}
	c.read += n
	switch err {
	// The server closes it when the response begins.
	case nil, io.EOF, io.ErrUnexpectedEOF, http.ErrBodyReadAfterClose:
		return true
	}
	return false
}

func (c *chaos) write(n int) bool {
	n = min(n+1, c.length-c.written)
	if n == 0 {
		return true
	}
	_, err := c.Write(pattern(c.number, c.written, n))
	c.written += n
	return err == nil && c.ctx.Err() == nil
}

// pipe copies from a pipe with a writer that writes in pieces.
func (c *chaos) pipe(n int) bool {
	n = min(n, c.length-c.written)
	from, to, err := os.Pipe()
	if err != nil {
		c.wrong("%v", err)
		return false
	}
	defer from.Close()
	text := pattern(c.number, c.written, n)
	go func() {
		defer to.Close()
		to.Write(text[:n/2])
		time.Sleep(100 * time.Microsecond)
		to.Write(text[n/2:])
	}()
	copied, err := io.Copy(c, from)
	c.written += int(copied)
	return err == nil && int(copied) == n
}

func (p *plan) String() string {
	return fmt.Sprintf("request %d (%d bytes, declared: %t)", p.number, p.length, p.declared)
}
