//go:build !unix

package servers

import "os/exec"

func become(*exec.Cmd, string) {}

func give(string, string) error { return nil }
