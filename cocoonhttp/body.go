package cocoonhttp

import "io"

// body is a request's body. A read gives the slot back always, and not only once it turns out slow, because the client
// decides how slow.
type body struct {
	io.ReadCloser
	io *blocking
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (n int, err error) {
	b.io.read(func() error {
		n, err = b.ReadCloser.Read(p)
		return nil
	})
	return n, err
}
