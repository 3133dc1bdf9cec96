package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

const withoutSafePoints = `this program was built without safe points in regexp2, so no match can be stopped, and mode cocoon is no better
than plain; build it with them:
    go run ./cmd/cocoon run ./examples/redos`

// hasSafePoints reports whether a match can be stopped in this program. It tries to stop one,
// because a marker in the binary would only tell how the program was built. Without safe points
// regexp2's own timeout ends the match.
func hasSafePoints(ctx context.Context) (stopped bool, err error) {
	h, err := openHybrid(10 * time.Millisecond)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	evil := builtIn[0]
	re, err := evil.compile()
	if err != nil {
		return false, err
	}
	re.MatchTimeout = 400 * time.Millisecond
	_, err = h.match(ctx, re, evil.attack())
	var preempted *cocoon.PreemptedError
	switch {
	case errors.As(err, &preempted):
		return true, nil
	// regexp2 has no error type for it.
	case err != nil && strings.HasPrefix(err.Error(), "match timeout"):
		return false, nil
	case err != nil:
		return false, err
	}
	return false, fmt.Errorf("the match of %s, which takes for ever, has ended", evil.Name)
}
