package cocoon

import (
	"context"
	"errors"

	"github.com/cocoon-go/cocoon/internal/inside"
)

// Forms of BlockCall for packages of this module that know of throws.

func init() {
	inside.CallOrThrow, inside.CallToEnd, inside.CallAnyway = callOrThrow, callToEnd, callAnyway
	inside.Insist, inside.Returned = insist, returned
}

// callOrThrow is inside.CallOrThrow.
func callOrThrow(ctx context.Context, fn func() error) error {
	s := strandOf(ctx)
	if s == nil || s.blocked {
		return fn()
	}
	if err := s.refuses(ctx); err != nil {
		return err
	}
	return s.away(fn)
}

// callToEnd is inside.CallToEnd.
func callToEnd(ctx context.Context, fn func() error) error {
	s := strandOf(ctx)
	if s == nil || s.blocked {
		return fn()
	}
	if !s.willEnd(ctx) {
		s.beforeCall() // a policy that throws now does not refuse a call that has begun
		if !s.willEnd(ctx) {
			if err := s.refusesNow(ctx, true); err != nil {
				return err
			}
		}
	}
	return s.away(fn)
}

// callAnyway is inside.CallAnyway.
func callAnyway(ctx context.Context, fn func() error) error {
	s := strandOf(ctx)
	if s == nil || s.blocked {
		return fn()
	}
	return s.away(fn)
}

// insist is inside.Insist.
func insist(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	s := strandOf(ctx)
	if s == nil || s.blocked || s.requests.Load()&wantThrow == 0 {
		return err
	}
	var told *PreemptedError
	if !errors.As(err, &told) {
		return err
	}
	if p, _ := s.pendingThrow(true); p != nil && p.err == told {
		if p.refused++; p.refused > inside.Patience {
			s.answer()
		}
	}
	return err
}

// returned is inside.Returned.
func returned(ctx context.Context) error {
	s := strandOf(ctx)
	if s == nil || s.requests.Load()&wantThrow == 0 {
		return nil
	}
	if p, _ := s.pendingThrow(true); p != nil && p.returned && s.relation(ctx) != stays {
		return p.err
	}
	return nil
}
