package goroutine

import "runtime"

const header = "goroutine "

// number returns the number of the calling goroutine from the first line of its stack trace,
// "goroutine 18 [running]:". It is the ID where there is no assembly, and the check on it where
// there is.
//
// Numbers count up for the life of the process. Where a uintptr has 32 bits they wrap; two living
// goroutines would have to be 4,294,967,296 apart to meet.
func number() uintptr {
	var buf [len(header) + 20]byte
	line := buf[:runtime.Stack(buf[:], false)]
	n := uintptr(0)
	for i, c := range line {
		if i < len(header) {
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + uintptr(c-'0')
	}
	if n == 0 {
		panic("goroutine: no number in the stack trace " + string(line))
	}
	return n
}
