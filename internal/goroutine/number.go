package goroutine

import "runtime"

const header = "goroutine "

// number returns the number of the calling goroutine from the first line of its stack trace,
// "goroutine 18 [running]:". It is the ID on platforms without assembly, and a check of the ID on
// platforms with assembly.
//
// Numbers count up for the life of the process. With 32-bit uintptrs they wrap; two living
// goroutines would have to be 4,294,967,296 goroutines apart to share a number.
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
