//go:build unix

package main

import (
	"net/http"
	"syscall"
	"time"
)

// systemWaitings are the waitings of systems with blocking pipes.
var systemWaitings = []waiting{
	{"system call", "8 requests at once that read a pipe by a system call, for 5 ms", 8, askAgain},
}

func addSystemHandlers(handlers map[string]http.Handler, wait around) {
	handlers["system call"] = waitFor(wait, readPipe)
}

// readPipe reads, as code in C would, from a pipe that another goroutine writes to later.
func readPipe() {
	var ends [2]int
	if syscall.Pipe(ends[:]) != nil {
		panic("no pipe") // net/http ends the connection, and the client reports it
	}
	defer syscall.Close(ends[0])
	go func() {
		time.Sleep(5 * time.Millisecond)
		syscall.Close(ends[1])
	}()
	syscall.Read(ends[0], make([]byte, 1))
}
