//go:build !unix

package gobuild

// become runs the tool as a child, because this system cannot replace the process.
func become(words []string) (code int, err error) { return run(words) }
