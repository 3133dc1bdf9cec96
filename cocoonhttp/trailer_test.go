package cocoonhttp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestCutBeforeTrailer checks responses of declared length when a throw comes between the last byte
// of the body and the trailer. In HTTP/2 the client must not take the response for whole. In HTTP/1
// such a response has no trailer, so it is whole.
func TestCutBeforeTrailer(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{StallAfter: -1})
	throws := map[string]func(w http.ResponseWriter, r *http.Request){
		"its context ends": func(_ http.ResponseWriter, r *http.Request) {
			time.AfterFunc(time.Millisecond, cocoon.TaskOf(r.Context()).Cancel)
			<-r.Context().Done()
		},
		"a flush is refused": func(w http.ResponseWriter, r *http.Request) {
			cocoon.TaskOf(r.Context()).Cancel()
			http.NewResponseController(w).Flush()
		},
	}
	for size, body := range map[string]string{"small": "body", "large": strings.Repeat("x", 3*partSize)} {
		for when, throw := range throws {
			for _, name := range []string{"Sum", http.TrailerPrefix + "Sum"} {
				h := func(w http.ResponseWriter, r *http.Request) {
					if name == "Sum" {
						w.Header().Set("Trailer", name)
					}
					w.Header().Set("Content-Length", strconv.Itoa(len(body)))
					io.WriteString(w, body)
					throw(w, r)
					w.Header().Set(name, "what was left")
				}
				test := func(protocol string, whole bool, change ...func(*httptest.Server)) {
					t.Run(strings.Join([]string{size, when, name, protocol}, " "), func(t *testing.T) {
						s := handle(t, rt, h, change...)
						if seen := got(s, "GET"); (seen == "200 "+body) != whole {
							t.Errorf("the client got %.100q; want it whole: %t", seen, whole)
						}
					})
				}
				test("HTTP/1", true)
				test("HTTP/2", false, http2)
			}
		}
	}
}
