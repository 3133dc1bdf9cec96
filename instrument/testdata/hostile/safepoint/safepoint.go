// Package safepoint has the poll's name.
package safepoint // import "github.com/cocoon-go/cocoon/instrument/testdata/hostile/safepoint"

func Poll(n int) (sum int) {
	Raised := func() bool { return n > 0 }
	for Raised() {
		n--
		sum += Answer(n)
	}
	return sum
}

func Answer(n int) (safepoint int) {
	for safepoint < n%7 {
		safepoint++
	}
	return safepoint
}
