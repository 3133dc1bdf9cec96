//go:build !unix

package gobuild

// become runs the tool, for this process cannot turn into it.
func become(words []string) (code int, err error) { return run(words) }
