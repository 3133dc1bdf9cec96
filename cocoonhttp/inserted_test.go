package cocoonhttp

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/cocoon-go/cocoon/safepoint"
)

// rows writes lines without end, as a function does that cocoon build has rewritten because a limit
// names it.
func rows(w io.Writer, n int, r *http.Request, heeds bool) (err error) {
	defer safepoint.Enter("lib.rows")(&err)
	for range n {
		if _, err := io.WriteString(w, strings.Repeat("x", 99)+"\n"); err != nil && heeds {
			return err
		}
	}
	for {
		cocoon.SafePoint(r.Context())
	}
}

// spin is the same, and writes nothing.
func spin(r *http.Request) (err error) {
	defer safepoint.Enter("lib.spin")(&err)
	for {
		cocoon.SafePoint(r.Context())
	}
}

func swallowing(w io.Writer, r *http.Request) (err error) {
	defer safepoint.Enter("lib.rows")(&err)
	for err == nil {
		_, err = w.Write(make([]byte, 3*partSize))
	}
	return nil
}

// Code that cocoon build has rewritten knows of no throw: it gets an error from a function that
// wrote a part of the response, and often only logs it. The client must not take the part for the
// whole.
func TestSectionsThatCocoonBuildInserts(t *testing.T) {
	const limits = "version: 1\nlimits: [{func: lib.rows, limit: 2ms}, {func: lib.spin, limit: 2ms}]\n"
	for name, test := range map[string]struct {
		handler func(w http.ResponseWriter, r *http.Request)
		// status and the body's length, or "cut"; if the throw comes before the first byte, 503
		want string
	}{
		"held":      {func(w http.ResponseWriter, r *http.Request) { rows(w, 3, r, true) }, "503"},
		"sent":      {func(w http.ResponseWriter, r *http.Request) { rows(w, 300, r, true) }, "cut"},
		"ignores":   {func(w http.ResponseWriter, r *http.Request) { rows(w, 300, r, false) }, "cut"},
		"swallows":  {func(w http.ResponseWriter, r *http.Request) { swallowing(w, r) }, "cut"},
		"goes on":   {func(w http.ResponseWriter, r *http.Request) { rows(w, 300, r, true); io.WriteString(w, "end") }, "cut"},
		"its error": {func(w http.ResponseWriter, r *http.Request) { http.Error(w, spin(r).Error()[:4], 500) }, "500 5"},
		"writes before and after": {func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "a")
			spin(r)
			io.WriteString(w, "b")
		}, "200 2"},
		"declared": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "300")
			rows(w, 3, r, true)
		}, "200 300"},
		"an explicit section": {func(w http.ResponseWriter, r *http.Request) {
			cocoon.Section(r.Context(), "lib.spin", func() (int, error) { io.WriteString(w, "abc"); return 0, spinIn(r) })
		}, "200 3"},
	} {
		t.Run(name, func(t *testing.T) {
			rt := tasktest.Start(t, cocoon.Config{QuietThrows: true})
			tasktest.Must(t, rt.LoadPolicies(strings.NewReader(limits)))
			s := handle(t, rt, test.handler)
			resp, err := s.Client().Get(s.URL)
			tasktest.Must(t, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			got := strconv.Itoa(resp.StatusCode) + " " + strconv.Itoa(len(body))
			if err != nil {
				got = "cut"
			}
			if !strings.HasPrefix(got, test.want) && !(test.want == "cut" && resp.StatusCode == 503) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func spinIn(r *http.Request) error {
	for {
		cocoon.SafePoint(r.Context())
	}
}
