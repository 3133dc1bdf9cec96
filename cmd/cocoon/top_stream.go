package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cocoon-go/cocoon/cocoondebug"
)

// maxEvent bounds an event of the stream, in bytes: cocoondebug bounds its snapshots far below.
const maxEvent = 16 << 20

var (
	errLost   = errors.New("the server has ended the stream") // and the runtime has not ended
	errSilent = fmt.Errorf("the server has sent nothing for %v", silence)
)

// silence is how long a server that sends nothing counts as there; it sends twice a second.
const silence = 10 * time.Second

// follow calls show with each snapshot of the server, until show returns an error, the stream or
// ctx ends. It returns nil after the last snapshot of a runtime that has shut down.
func (t *top) follow(ctx context.Context, show func(*cocoondebug.Snapshot) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer patience.Stop()
	err := t.followed(ctx, func(s *cocoondebug.Snapshot) error {
		patience.Reset(silence)
		return show(s)
	})
	if context.Cause(ctx) == errSilent {
		return errSilent
	}
	return err
}

// followed is follow without patience.
func (t *top) followed(ctx context.Context, show func(*cocoondebug.Snapshot) error) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, t.url.String(), nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 200))
		return fmt.Errorf("%s: %s, %q; want the page of package cocoondebug: %q", t.url, response.Status, kind, bytes.TrimSpace(text))
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		text, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		s := new(cocoondebug.Snapshot)
		if err := json.Unmarshal(text, s); err != nil {
			return fmt.Errorf("%s: a snapshot of another version of Cocoon: %w", t.url, err)
		}
		if err := show(s); err != nil || s.Ended {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return errLost
}
