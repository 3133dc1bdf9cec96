package cocoonhttp

import (
	"net/http"
	"strconv"
	"time"
)

// refuse responds to a request if its task did not start or was thrown into.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if h.retryAfter != "" {
		w.Header().Set("Retry-After", h.retryAfter)
	}
	h.options.Refuse(w, r, err)
}

// unavailable is the default of Options.Refuse.
func unavailable(w http.ResponseWriter, _ *http.Request, _ error) {
	http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
}

// retryAfter returns the value of the Retry-After header, "" for none.
func retryAfter(d time.Duration) string {
	switch {
	case d < 0:
		return ""
	case d == 0:
		d = time.Second
	}
	seconds := d / time.Second
	if d%time.Second != 0 {
		seconds++
	}
	return strconv.FormatInt(int64(seconds), 10)
}
