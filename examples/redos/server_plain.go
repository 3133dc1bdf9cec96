package main

import (
	"context"
	"time"

	"github.com/dlclark/regexp2"
)

// plain matches in the handler, as any net/http server does.
type plain struct{}

func openPlain() (service, error) { return plain{}, nil }

func (plain) match(_ context.Context, re *regexp2.Regexp, input string) (v verdict, err error) {
	begin := time.Now()
	v.Matched, err = find(re, input)
	v.Took = time.Since(begin)
	return v, err
}

func (plain) close() error { return nil }
