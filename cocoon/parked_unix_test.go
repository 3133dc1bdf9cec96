//go:build unix

package cocoon

import "syscall"

func readByte(fd int) error {
	var b [1]byte
	_, err := syscall.Read(fd, b[:])
	return err
}
