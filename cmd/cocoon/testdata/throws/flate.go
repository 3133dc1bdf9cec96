package main

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
)

// compressed uses a writer of level 1 again after a throw, as a pool does.
func compressed() engine {
	z, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		panic(err)
	}
	// few different bytes: the hash table of the writer finds each sequence of four
	doc := make([]byte, 1<<20)
	for i := range doc {
		doc[i] = "abcd"[rand.IntN(4)]
	}
	return engine{
		"compress/flate",
		func() error {
			for {
				z.Reset(io.Discard)
				if _, err := z.Write(doc); err != nil {
					return err
				}
			}
		},
		func() (err error) {
			defer func() {
				if e := recover(); e != nil {
					err = fmt.Errorf("the writer panics: %v", e)
				}
			}()
			var out bytes.Buffer
			z.Reset(&out)
			if _, err := z.Write(doc); err != nil {
				return err
			}
			if err := z.Close(); err != nil {
				return err
			}
			got, err := io.ReadAll(flate.NewReader(&out))
			if err == nil && !bytes.Equal(got, doc) {
				err = errors.New("other bytes come out")
			}
			return err
		},
	}
}

// compressedAndClosed closes a writer of the default level by a deferred call, which must not panic
// behind a throw.
func compressedAndClosed() engine {
	z, err := flate.NewWriter(io.Discard, flate.DefaultCompression)
	if err != nil {
		panic(err)
	}
	doc := make([]byte, 1<<20)
	for i := range doc {
		doc[i] = "abcd"[rand.IntN(4)]
	}
	var closed any
	return engine{
		"compress/flate, closed",
		func() error {
			defer func() {
				defer func() { closed = recover() }()
				z.Close()
			}()
			for {
				z.Reset(io.Discard)
				if _, err := z.Write(doc); err != nil {
					return err
				}
			}
		},
		func() error {
			if closed != nil {
				return fmt.Errorf("Close panics: %v", closed)
			}
			return nil
		},
	}
}
