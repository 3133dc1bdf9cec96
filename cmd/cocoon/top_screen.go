package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/cocoondebug"
)

// The control sequences of terminals that the screen needs.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // the other screen, without a cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	toTheTop    = "\x1b[H"
	eraseLine   = "\x1b[K"
	eraseBelow  = "\x1b[J"
)

const ctrlC = 3

// show shows snapshots on a terminal in raw mode until the user quits or ctx ends. If the server is
// lost, it waits for the server to come back.
func (t *top) show(ctx context.Context, size func() (width, height int)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	keys, news := make(chan byte), make(chan update)
	go readKeys(ctx, t.in, keys)
	go t.keepFollowing(ctx, news)
	fmt.Fprint(t.out, enterScreen)
	defer fmt.Fprint(t.out, leaveScreen)
	look := time.NewTicker(250 * time.Millisecond) // at the size: no signal tells it on all systems
	defer look.Stop()
	v := screen{top: t, status: "connecting to " + t.url.String()}
	v.width, v.height = size()
	for {
		if err := v.draw(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case key := <-keys:
			if !v.press(key) {
				return nil
			}
		case n := <-news:
			v.take(n)
		case <-look.C:
			v.width, v.height = size()
		}
	}
}

// update is a snapshot, or the status of the connection without one.
type update struct {
	shown  *cocoondebug.Snapshot
	status string
}

// keepFollowing sends the snapshots of the server, and connects again when it is lost.
func (t *top) keepFollowing(ctx context.Context, news chan<- update) {
	send := func(n update) error {
		select {
		case news <- n:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for ctx.Err() == nil {
		err := t.follow(ctx, func(s *cocoondebug.Snapshot) error { return send(update{shown: s}) })
		if err == nil {
			_ = send(update{status: "the runtime has shut down; q quits"})
			return
		}
		_ = send(update{status: fmt.Sprintf("no connection, trying again: %v", err)})
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// readKeys sends what the user types. It ends with the input, or at the next key after ctx.
func readKeys(ctx context.Context, in io.Reader, keys chan<- byte) {
	var buf [64]byte
	for {
		n, err := in.Read(buf[:])
		for _, key := range buf[:n] {
			select {
			case keys <- key:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// screen is the content of the terminal.
type screen struct {
	*top
	width, height int
	latest        *cocoondebug.Snapshot
	status        string // of the connection; "" while snapshots come
	paused        bool
	drawn         string
}

// press does what a key asks for, and reports whether the user stays.
func (v *screen) press(key byte) bool {
	switch key {
	case 'q', ctrlC:
		return false
	case 'c':
		v.sort = cocoondebug.ByCPU
	case 'w':
		v.sort = cocoondebug.ByWait
	case 't':
		v.sort = cocoondebug.ByThrows
	case 'p':
		v.paused = !v.paused
	}
	return true
}

func (v *screen) take(n update) {
	v.status = n.status
	if n.shown != nil && !v.paused {
		v.latest = n.shown
	}
}

// draw draws the screen, if it has changed. Each line is erased after its text, so nothing
// flickers.
func (v *screen) draw() error {
	var lines []string
	if v.latest != nil {
		lines = v.lines(v.latest, v.width, max(1, v.height-1))
	}
	status := v.status
	if status == "" {
		status = "c w t: sort by slots, waits, throws; p: pause; q: quit"
	}
	if v.paused {
		status = "paused; " + status
	}
	lines = append(lines, clipped(printable(status), v.width))
	text := toTheTop + strings.Join(lines, eraseLine+"\r\n") + eraseLine + eraseBelow
	if text == v.drawn {
		return nil
	}
	v.drawn = text
	_, err := io.WriteString(v.out, text)
	return err
}
