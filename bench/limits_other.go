//go:build !linux

package main

import (
	"context"
	"errors"
)

func limits(context.Context, *report) error {
	return errors.New("the processor time of a thread is read on Linux only")
}
