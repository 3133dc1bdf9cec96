package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// crowd is a number of connections, each of which sends its next request as soon as it has the
// previous response. All of them run on one thread, by epoll, as in wrk. With a goroutine for each
// connection the client costs as much as the server, and then the client determines how much the
// server does. Only one goroutine may use it.
type crowd struct {
	request []byte
	length  int // of a response
	epoll   int
	members []member
}

// member is a connection of a crowd.
type member struct{ socket, got int } // got: bytes of the current response

// newCrowd opens n connections.
func newCrowd(address, path string, n int) (c *crowd, err error) {
	first, err := newHTTPClient(address, path)
	if err != nil {
		return nil, err
	}
	c = &crowd{request: first.request, length: len(first.answer)}
	first.conn.Close()
	if c.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll_create: %w", err)
	}
	for range n {
		if err := c.join(address); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

// join adds a connection.
func (c *crowd) join(address string) error {
	to, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return err
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	c.members = append(c.members, member{socket: socket})
	// Fd is opaque to the kernel: it is the index here.
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(len(c.members) - 1)}
	return errors.Join(
		unix.Connect(socket, &unix.SockaddrInet4{Port: to.Port, Addr: [4]byte(to.IP.To4())}),
		unix.SetsockoptInt(socket, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
		unix.SetNonblock(socket, true),
		unix.EpollCtl(c.epoll, unix.EPOLL_CTL_ADD, socket, &event),
	)
}

func (c *crowd) close() error {
	err := unix.Close(c.epoll)
	for _, m := range c.members {
		err = errors.Join(err, unix.Close(m.socket))
	}
	return err
}

// ask returns the number of responses until the end, including outstanding ones.
func (c *crowd) ask(ctx context.Context, end time.Time) (answers int64, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i := range c.members {
		if err := c.send(&c.members[i]); err != nil {
			return 0, err
		}
	}
	events := make([]unix.EpollEvent, len(c.members))
	buffer := make([]byte, c.length)
	for busy := len(c.members); busy > 0; {
		n, err := unix.EpollWait(c.epoll, events, int(patience/time.Millisecond))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return answers, fmt.Errorf("epoll_wait: %w", err)
		case n == 0:
			return answers, fmt.Errorf("no answer within %v", patience)
		}
		on := ctx.Err() == nil && time.Now().Before(end)
		for _, event := range events[:n] {
			m := &c.members[event.Fd]
			done, err := c.receive(m, buffer)
			if err != nil {
				return answers, err
			}
			if !done {
				continue
			}
			answers++
			if !on {
				busy--
			} else if err := c.send(m); err != nil {
				return answers, err
			}
		}
	}
	return answers, ctx.Err()
}

// send makes a request.
func (c *crowd) send(m *member) error {
	if _, err := unix.Write(m.socket, c.request); err != nil { // a request this short always fits
		return fmt.Errorf("write of a request: %w", err)
	}
	return nil
}

// receive reads the available bytes, and reports whether they complete a response.
func (c *crowd) receive(m *member, buffer []byte) (done bool, err error) {
	n, err := unix.Read(m.socket, buffer[:c.length-m.got])
	switch {
	case err == unix.EAGAIN:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read of an answer: %w", err)
	case n == 0:
		return false, errors.New("the server closed a connection instead of an answer")
	case m.got == 0 && n >= len(good) && string(buffer[:len(good)]) != good:
		return false, fmt.Errorf("an answer begins %q; want %q", buffer[:len(good)], good)
	}
	m.got = (m.got + n) % c.length
	return m.got == 0, nil
}
