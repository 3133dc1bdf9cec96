package lang

import "testing"

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0B", 1000: "1000B", 1 << 10: "1KiB", 64 << 20: "64MiB", 13 << 29: "6656MiB", 1 << 40: "1024GiB", 7e9: "6.519GiB", -5: "-5B"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s; want %s", n, got, want)
		}
	}
}
