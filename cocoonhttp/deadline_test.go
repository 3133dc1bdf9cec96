package cocoonhttp

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// noticing is a writer around the handler whose deadlines take their time. It counts the deadlines
// that are set after the request's end.
type noticing struct {
	http.ResponseWriter
	begun chan<- struct{}
	ended atomic.Bool
	late  atomic.Int32
}

func (n *noticing) Unwrap() http.ResponseWriter { return n.ResponseWriter }

func (n *noticing) SetReadDeadline(at time.Time) error {
	if at.Equal(longAgo) {
		return nil
	}
	select {
	case n.begun <- struct{}{}:
	default:
	}
	time.Sleep(5 * time.Millisecond) // the handler ends
	if n.ended.Load() {
		n.late.Add(1)
	}
	return nil
}

// TestDeadlineAtTheEnd checks that a goroutine which a throw leaves behind sets no deadline of the
// connection after the request. It would be one of the next request, and net/http's writer for
// HTTP/2 panics.
func TestDeadlineAtTheEnd(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{QuietThrows: true})
	begun := make(chan struct{}, 1)
	h := Middleware(rt, Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		go func() {
			for c.SetReadDeadline(time.Now().Add(time.Hour)) == nil {
			}
		}()
		<-begun
		throwInto(r.Context())
	}))
	for range 20 {
		n := &noticing{ResponseWriter: httptest.NewRecorder(), begun: begun}
		h.ServeHTTP(n, httptest.NewRequest("GET", "/", nil))
		n.ended.Store(true)
		time.Sleep(10 * time.Millisecond)
		if n.late.Load() > 0 {
			t.Fatal("a deadline was set after the end of the request")
		}
	}
}

// TestThrowOutlastsDeadlines checks that a throw ends a read that a client holds up, although
// another goroutine of the handler extends the deadline of reads again and again.
func TestThrowOutlastsDeadlines(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for name, begin := range map[string]func(w http.ResponseWriter, r *http.Request) (io.Reader, func(time.Time) error){
		"body": func(w http.ResponseWriter, r *http.Request) (io.Reader, func(time.Time) error) {
			return r.Body, http.NewResponseController(w).SetReadDeadline
		},
		"hijacked": func(w http.ResponseWriter, r *http.Request) (io.Reader, func(time.Time) error) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
			}
			return c, c.SetReadDeadline
		},
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan error, 1)
			s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
				from, extend := begin(w, r)
				stop := make(chan struct{})
				defer close(stop)
				for range 2 {
					go func() {
						for {
							select {
							case <-stop:
								return
							default:
								extend(time.Now().Add(time.Hour))
							}
						}
					}()
				}
				time.AfterFunc(5*time.Millisecond, cocoon.TaskOf(r.Context()).Cancel)
				_, err := from.Read(make([]byte, 1))
				ended <- err
			})
			for range longtest.Count(20, 8) {
				c, _ := dial(t, s)
				send(t, c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
				select {
				case err := <-ended:
					if !errors.Is(err, cocoon.ErrCancelled) {
						t.Errorf("the read ended with %v", err)
					}
				case <-time.After(5 * time.Second):
					t.Error("a throw was lost")
					c.Close()
					<-ended
				}
				c.Close()
			}
		})
	}
}

// slowly is a listener whose connections write slowly.
type slowly struct{ net.Listener }

func (s slowly) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	return slow{c}, err
}

type slow struct{ net.Conn }

func (s slow) Write(p []byte) (int, error) {
	time.Sleep(3 * arrived)
	return s.Conn.Write(p)
}

// TestDeadlineOfTheRest checks that, in full duplex mode, the look for the rest of a body leaves no
// deadline behind, if a middleware has read the body before: net/http already waits for the next
// request, and would take the end of the deadline for the client's departure.
func TestDeadlineOfTheRest(t *testing.T) {
	h := Middleware(tasktest.Start(t, cocoon.Config{}), Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.Context().Err(); err != nil {
			t.Errorf("the context of a request has ended: %v", err)
		}
		http.NewResponseController(w).EnableFullDuplex()
		io.WriteString(w, "hello")
	}))
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(all))
		h.ServeHTTP(w, r)
	}), func(s *httptest.Server) { s.Listener = slowly{s.Listener} })
	c, r := dial(t, s)
	for range 3 {
		send(t, c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
		resp, err := http.ReadResponse(r, nil)
		tasktest.Must(t, err)
		if body, err := io.ReadAll(resp.Body); string(body) != "hello" {
			t.Fatalf("%s %q, %v", resp.Status, body, err)
		}
	}
}
