package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/cocoon-go/cocoon/cocoon"
)

// limited is the function with the time limit. cocoon build finds the name in the TimeLimit below,
// and makes a section of the function; so its call needs no change.
const limited = "github.com/dlclark/regexp2.(*Regexp).FindStringMatch"

// hybrid matches in tasks. A match that has run for longer than the limit is stopped at its next
// safe point, and returns that as its error.
type hybrid struct{ rt *cocoon.Runtime }

// openHybrid starts a runtime with the time limit.
func openHybrid(limit time.Duration) (hybrid, error) {
	log := slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{ReplaceAttr: withoutStack})
	rt, err := cocoon.New(cocoon.Config{Logger: slog.New(log)})
	if err != nil {
		return hybrid{}, err
	}
	h := hybrid{rt}
	if _, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: limited, Limit: limit}); err != nil {
		return h, errors.Join(err, h.close())
	}
	return h, nil
}

func (h hybrid) match(ctx context.Context, re *regexp2.Regexp, input string) (v verdict, err error) {
	err = h.rt.Run(ctx, "match", func(context.Context) (err error) {
		begin := time.Now()
		v.Matched, err = find(re, input)
		v.Took = time.Since(begin)
		return err
	})
	return v, err
}

// withoutStack shortens the reports of stalls, of which a program without safe points has many, to
// one line.
func withoutStack(_ []string, a slog.Attr) slog.Attr {
	if a.Key == "stack" {
		return slog.Attr{}
	}
	return a
}

func (h hybrid) close() error { return h.rt.Shutdown(context.Background()) }
