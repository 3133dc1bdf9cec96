package victim

import "strings"

var vocabulary = strings.Fields(`throw lock slot task pool map tree stack queue answer limit moment page cache
	loop poll word graph cycle call branch line file client server reader writer table column row key value`)

// Text returns prose of a number of words, the same each time.
func Text(words int) string {
	var b strings.Builder
	state := uint32(1)
	for i := range words {
		state = state*1664525 + 1013904223
		b.WriteString(vocabulary[state>>16%uint32(len(vocabulary))])
		if i%11 == 10 {
			b.WriteString(".\n")
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
