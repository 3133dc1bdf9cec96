//go:build race

package meter_test

// The race detector makes the rewriter several times slower, and allocates by itself.
func init() { slower = 10 }
