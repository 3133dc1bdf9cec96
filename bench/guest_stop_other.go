//go:build !linux

package main

import (
	"errors"
	"time"
)

func threadClock() (read func() time.Duration, err error) { return nil, errors.ErrUnsupported }
