//go:build unix

package early

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

func init() {
	line := tool(os.Args)
	if line == nil {
		return
	}
	// If it fails, package gobuild runs the tool, and reports the error.
	if path, err := exec.LookPath(line[0]); err == nil {
		_ = syscall.Exec(path, line, os.Environ())
	}
}

// tool returns the command line of the tool if these arguments only run one. A compiler that gets
// different files has a flag of ours.
func tool(args []string) []string {
	if len(args) < 2 || args[1] != "toolexec" {
		return nil
	}
	i := slices.Index(args, "--")
	if i < 0 || i+1 == len(args) {
		return nil
	}
	line := args[i+1:]
	if slices.ContainsFunc(line, func(w string) bool { return strings.HasPrefix(w, "-cocoon") }) {
		return nil
	}
	return line
}
