package lang

import "fmt"

// Size writes a number of bytes in the greatest unit of which it is a multiple, as 64MiB, or, if
// these are too many to read, with four digits in a greater one.
func Size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	i := 0
	for ; i < len(units)-1 && n != 0 && n%1024 == 0; i++ {
		n /= 1024
	}
	if n < 10_000 {
		return fmt.Sprint(n, units[i])
	}
	f := float64(n)
	for ; i < len(units)-1 && f >= 1024; i++ {
		f /= 1024
	}
	return fmt.Sprintf("%.4g%s", f, units[i])
}
