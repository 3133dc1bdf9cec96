//go:build unix

package servers

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// credential returns the unprivileged user that runs a server, or nil if this process is already
// unprivileged.
func credential(name string) *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil
		}
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func become(c *exec.Cmd, name string) {
	// Use a separate process group, so that the server does not get the terminal's signals.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: credential(name)}
}

// give gives the folder to the user.
func give(dir, name string) error {
	if c := credential(name); c != nil {
		return os.Chown(dir, int(c.Uid), int(c.Gid))
	}
	return nil
}
