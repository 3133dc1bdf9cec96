//go:build unix

package gobuild

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// become replaces this process by the tool, which saves one process for each tool.
func become(words []string) (code int, err error) {
	path, err := exec.LookPath(words[0])
	if err == nil {
		err = syscall.Exec(path, words, os.Environ())
	}
	return 0, fmt.Errorf("running %s: %w", words[0], err)
}
