//go:build !unix

package gobuild

import "errors"

func hang(string, []string) (int, error) { return 0, errors.New("TestInterrupt is for Unix") }
