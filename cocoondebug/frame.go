package cocoondebug

import (
	"bytes"
	"encoding/json"
	"sync"
)

// frame is a snapshot in the forms that viewers get. The snapshot does not change any more.
type frame struct {
	shown *Snapshot

	mu    sync.Mutex
	forms map[form][]byte
}

// form is a form of a snapshot.
type form struct {
	view
	JSON  bool // a Snapshot; otherwise the part of the page that changes
	Event bool // a server-sent event with the form
}

// view holds a viewer's choices on the page.
type view struct {
	Sort    Sort
	Actions bool
}

// as returns the frame in a form. It is made when the first viewer needs it, and all viewers share
// it.
func (f *frame) as(as form) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.made(as)
}

// made is called with mu held.
func (f *frame) made(as form) (text []byte, err error) {
	if text, ok := f.forms[as]; ok {
		return text, nil
	}
	switch {
	case as.Event:
		as.Event = false
		if text, err = f.made(as); err == nil {
			text = eventOf(text, f.shown.Ended)
		}
		as.Event = true
	case as.JSON:
		text, err = json.Marshal(f.shown)
	default:
		text, err = rendered("content", page{Snapshot: f.shown, view: as.view})
	}
	if err != nil {
		return nil, err
	}
	if f.forms == nil {
		f.forms = map[form][]byte{}
	}
	f.forms[as] = text
	return text, nil
}

// eventOf returns a server-sent event.
func eventOf(text []byte, last bool) []byte {
	var event bytes.Buffer
	event.WriteString("retry: 1000\n")
	if last {
		event.WriteString("event: end\n")
	}
	for line := range bytes.Lines(text) {
		event.WriteString("data: ")
		event.Write(bytes.TrimRight(line, "\r\n"))
		event.WriteByte('\n')
	}
	event.WriteByte('\n')
	return event.Bytes()
}
