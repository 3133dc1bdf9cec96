package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"os"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// piece is the unit of work.
const piece = 25 * time.Microsecond

// work hashes a value repeatedly, hashes times for each piece, and checks after each piece whether
// it should stop. All modes do the same; the safe point has an effect only in a task.
func work(ctx context.Context, hashes, pieces int) (sum [sha256.Size]byte, err error) {
	for range pieces {
		sum = hashOn(sum, hashes)
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		cocoon.SafePoint(ctx)
	}
	return sum, nil
}

func hashOn(sum [sha256.Size]byte, times int) [sha256.Size]byte {
	for range times {
		sum = sha256.Sum256(sum[:])
	}
	return sum
}

// answersOf returns the right responses for work of 0 to pieces pieces.
func answersOf(hashes, pieces int) [][sha256.Size]byte {
	all := make([][sha256.Size]byte, pieces+1)
	for i := range pieces {
		all[i+1] = hashOn(all[i], hashes)
	}
	return all
}

// calibrate is a process on the server's cores that measures how many hashes a piece has: the
// median of many tries.
func calibrate(struct{}) error {
	const tries, count = 101, 10_000
	var took [tries]time.Duration
	var sum [sha256.Size]byte
	for i := range took {
		begin := time.Now()
		sum = hashOn(sum, count)
		took[i] = time.Since(begin)
	}
	slices.Sort(took[:])
	return json.NewEncoder(os.Stdout).Encode(max(1, int(count*piece/took[tries/2])))
}
