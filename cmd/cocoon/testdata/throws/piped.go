package main

import (
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// piped reads what a goroutine writes, and closes its end of the pipe. Each goroutine must end.
func piped(name string, open func() (io.ReadCloser, io.Writer)) engine {
	sent, received := make([]byte, 16<<20), make([]byte, 16<<20)
	var started, ended atomic.Int64
	read := func() error {
		r, w := open()
		defer r.Close()
		started.Add(1)
		go func() {
			defer ended.Add(1)
			w.Write(sent) // fails if the reader has closed its end
		}()
		_, err := io.ReadFull(r, received)
		return err
	}
	return engine{
		name,
		func() error {
			for {
				if err := read(); err != nil {
					return err
				}
			}
		},
		func() error {
			for begin := time.Now(); ended.Load() < started.Load(); time.Sleep(time.Millisecond) {
				if time.Since(begin) > 5*time.Second {
					return fmt.Errorf("%d writers wait without end", started.Load()-ended.Load())
				}
			}
			return nil
		},
	}
}

func ioPiped() engine {
	return piped("io.Pipe", func() (io.ReadCloser, io.Writer) { return io.Pipe() })
}

func netPiped() engine {
	return piped("net.Pipe", func() (io.ReadCloser, io.Writer) { return net.Pipe() })
}
