package cocoonhttp

import (
	"io"
	"net"
	"reflect"
	"time"
)

// hijackedTCP is a hijacked TCP connection. It embeds the connection so that package net finds what
// only it can do: net.Buffers is written with one system call (web sockets send large messages that
// way), and a file or another connection is copied by the kernel. A write of net.Buffers goes to
// the connection directly. If it waits, it is an unannounced wait, and a throw ends it by the
// deadline that takeOver sets.
type hijackedTCP struct {
	*net.TCPConn
	calls *hijacked
}

// Read implements io.Reader.
func (t *hijackedTCP) Read(p []byte) (int, error) { return t.calls.Read(p) }

// Write implements io.Writer.
func (t *hijackedTCP) Write(p []byte) (int, error) { return t.calls.Write(p) }

// CloseWrite closes the sending direction, to the client.
func (t *hijackedTCP) CloseWrite() error { return t.calls.CloseWrite() }

// SetDeadline implements net.Conn.
func (t *hijackedTCP) SetDeadline(at time.Time) error { return t.calls.SetDeadline(at) }

// SetReadDeadline implements net.Conn.
func (t *hijackedTCP) SetReadDeadline(at time.Time) error { return t.calls.SetReadDeadline(at) }

// SetWriteDeadline implements net.Conn.
func (t *hijackedTCP) SetWriteDeadline(at time.Time) error { return t.calls.SetWriteDeadline(at) }

// NetConn returns the underlying connection, as the method of *tls.Conn does.
func (t *hijackedTCP) NetConn() net.Conn { return t.TCPConn }

// ReadFrom implements io.ReaderFrom. The kernel copies files and connections, while the task gives
// its slot back. For any other source it is unknown whether reading is a wait or work, so the task
// keeps its slot while it reads.
func (t *hijackedTCP) ReadFrom(src io.Reader) (n int64, err error) {
	caller := &t.calls.caller
	if isFile(src) {
		err = caller.CallBriefly(func() error {
			n, err = t.TCPConn.ReadFrom(src)
			return err
		})
		return n, err
	}
	from, ok := peer(src).(io.Reader)
	if !ok {
		return copyWith(t, src)
	}
	if _, own := src.(*hijackedTCP); !own { // takeOver sets the deadline of its own connections
		if s := waiting(caller.Ctx, caller, from); s != nil {
			defer s.end()
		}
	}
	err = caller.Call(func() error {
		n, err = t.TCPConn.ReadFrom(from)
		return err
	})
	return n, err
}

// WriteTo implements io.WriterTo. The kernel copies to another connection.
func (t *hijackedTCP) WriteTo(dst io.Writer) (n int64, err error) {
	to, ok := peer(dst).(io.Writer)
	if !ok {
		return copyWith(dst, t)
	}
	err = t.calls.caller.Call(func() error {
		n, err = t.TCPConn.WriteTo(to)
		return err
	})
	return n, err
}

// peer returns the TCP connection that x is, or the limited part of one that it reads, or nil. Code
// of the application never runs while the kernel, or package net, copies to and from these.
func peer(x any) any {
	switch c := x.(type) {
	case *hijackedTCP:
		return c.TCPConn
	case *net.TCPConn:
		return c
	case *io.LimitedReader:
		if _, limited := c.R.(*io.LimitedReader); !limited && peer(c.R) == any(c.R) {
			return c
		}
	case nil:
	default: // net wraps a connection in types of its own while it copies
		if reflect.TypeOf(x).PkgPath() == "net" {
			return x
		}
	}
	return nil
}

// copyWith copies by reads and writes, whatever else src and dst can do.
func copyWith(dst io.Writer, src io.Reader) (int64, error) {
	buf := copies.Get().(*[]byte)
	defer copies.Put(buf)
	return io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, *buf)
}
