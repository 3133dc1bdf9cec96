package cocoondebug

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"weak"

	"github.com/cocoon-go/cocoon/cocoon"
)

// identities gives tasks identities for the page, and keeps no task in memory. An identity is
// random: if a page is older than the server, its identities match no task.
type identities struct {
	mu sync.Mutex
	of map[weak.Pointer[cocoon.Task]]string
	by map[string]weak.Pointer[cocoon.Task]
}

// maxIdentities bounds the identities, including those of tasks that the page no longer lists.
const maxIdentities = 4096

// id returns the identity of a task.
func (i *identities) id(t *cocoon.Task) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	p := weak.Make(t)
	if id, ok := i.of[p]; ok {
		return id
	}
	if i.of == nil || len(i.of) >= maxIdentities {
		i.of, i.by = map[weak.Pointer[cocoon.Task]]string{}, map[string]weak.Pointer[cocoon.Task]{}
	}
	id := strconv.FormatUint(rand.Uint64(), 36)
	i.of[p], i.by[id] = id, p
	return id
}

// task returns the task of an identity that a snapshot has named, or nil if the task is gone.
func (i *identities) task(id string) *cocoon.Task {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.by[id].Value()
}

// sweep forgets tasks no longer in memory.
func (i *identities) sweep() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for p, id := range i.of {
		if p.Value() == nil {
			delete(i.of, p)
			delete(i.by, id)
		}
	}
}
