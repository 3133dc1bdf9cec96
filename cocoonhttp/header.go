package cocoonhttp

import (
	"net/http"
	"slices"
)

// copied is a snapshot of a header. The values are shared, because no code changes them in place.
// It is a list and not a map, so that an exchange can reuse its memory: two maps were a tenth of
// the garbage of a small request.
type copied []field

type field struct {
	name   string
	values []string
}

// take makes c a copy of h.
func (c *copied) take(h http.Header) {
	*c = (*c)[:0]
	for name, values := range h {
		*c = append(*c, field{name, values})
	}
}

// of reports whether h is unchanged since the copy.
func (c copied) of(h http.Header) bool {
	if len(c) != len(h) {
		return false
	}
	for _, f := range c {
		if now, ok := h[f.name]; !ok || !slices.Equal(now, f.values) {
			return false
		}
	}
	return true
}

// restore gives h the content of the copy.
func (c copied) restore(h http.Header) {
	clear(h)
	for _, f := range c {
		h[f.name] = f.values
	}
}

// inform sends an informational response. HTTP/2 passes the header map itself to the goroutine that
// writes, and does not wait for that goroutine if the stream ends meanwhile. HTTP/2 copies a header
// that has a Content-Length, because a length has no place in an informational response; so inform
// adds one for the duration of the call.
func (r *heldResponse) inform(status int) {
	r.informed = true
	h := r.under.Header()
	if _, ok := h["Content-Length"]; !ok && r.request != nil && r.request.ProtoMajor == 2 {
		h["Content-Length"] = []string{"0"}
		defer delete(h, "Content-Length")
	}
	r.under.WriteHeader(status)
}

// get returns the first value of a field, "" if there is none.
func (c copied) get(name string) string {
	for _, f := range c {
		if f.name == name && len(f.values) > 0 {
			return f.values[0]
		}
	}
	return ""
}

// set replaces all values of a field of the copy by one value.
func (c *copied) set(name, value string) {
	*c = slices.DeleteFunc(*c, func(f field) bool { return f.name == name })
	*c = append(*c, field{name, []string{value}})
}

// keptFields is how many fields a reused exchange has room for.
const keptFields = 32

// forget empties the copy. It keeps the memory unless the copy is large.
func (c *copied) forget() {
	if cap(*c) > keptFields {
		*c = nil
		return
	}
	clear((*c)[:cap(*c)])
	*c = (*c)[:0]
}
