package cocoonhttp

import (
	"net/http"
	"slices"
)

// copied is what a header was at some time. The values are shared, because nobody changes them in
// place. It is a list and not a map, so that an exchange can use its memory again: two maps were a
// tenth of what a small request left to the collector.
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

// of reports whether h is as it was.
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

// restore gives h the content that it had.
func (c copied) restore(h http.Header) {
	clear(h)
	for _, f := range c {
		h[f.name] = f.values
	}
}

// inform sends an informational answer. HTTP/2 passes the map itself to the goroutine that writes,
// and does not wait for that when the stream ends meanwhile. A header with a length is copied
// before, because a length has no place in such an answer; so it gets one for that moment.
func (a *answer) inform(status int) {
	h := a.under.Header()
	if _, ok := h["Content-Length"]; !ok && a.request != nil && a.request.ProtoMajor == 2 {
		h["Content-Length"] = []string{"0"}
		defer delete(h, "Content-Length")
	}
	a.under.WriteHeader(status)
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

// set gives the copy a field with one value, in place of the one that it has.
func (c *copied) set(name, value string) {
	*c = slices.DeleteFunc(*c, func(f field) bool { return f.name == name })
	*c = append(*c, field{name, []string{value}})
}

// keptFields is how many fields an exchange has room for when it is used again.
const keptFields = 32

// forget empties the copy, and keeps its memory unless it is a lot.
func (c *copied) forget() {
	if cap(*c) > keptFields {
		*c = nil
		return
	}
	clear((*c)[:cap(*c)])
	*c = (*c)[:0]
}
