package instrument

import (
	"fmt"
	"testing"
)

// TestPollInTheLineOfALock checks that the line of a lock does not count as locked if the function
// polls there before it takes the lock. All polls of a recursion may stand there.
func TestPollInTheLineOfALock(t *testing.T) {
	r := decidedText(t, `package p
import "sync"
type tree struct{ mu sync.RWMutex; left *tree }
func (t *tree) depth() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.left.depth() + 1
}
func (t *tree) other() int {
	t.mu.RLock(); work()
	defer t.mu.RUnlock()
	return t.left.other() + 1
}
var work func()
`)
	lines, _ := r.toldLines()["a.go"].stretches()
	if got, want := fmt.Sprint(lines), "[6 6 0 7 7 3 10 11 0 12 12 3]"; got != want {
		t.Errorf("told %s, want %s", got, want)
	}
}
