//go:build unix

package servers

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// credential returns the unprivileged user as whom a server runs, or nil where this process is one.
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
	// A group of its own: what a terminal sends to the tests is not for the server.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: credential(name)}
}

// give gives the folder to the user.
func give(dir, name string) error {
	if c := credential(name); c != nil {
		return os.Chown(dir, int(c.Uid), int(c.Gid))
	}
	return nil
}
