// The WASI command of TestGoProgram: arguments, environment, files, goroutines, timers, maps, a
// panic that is recovered, and an exit code.
package main

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"os"
	"sort"
	"sync"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "spin" {
		for n := uint64(0); ; n++ {
			hash(n)
		}
	}
	fmt.Println(os.Args[1:], os.Getenv("COLOUR"))
	for line := bufio.NewScanner(os.Stdin); line.Scan(); {
		fmt.Println("read", line.Text())
	}
	text, err := os.ReadFile("/data/in.txt")
	fmt.Printf("%q %v\n", text, err)
	fmt.Println(os.WriteFile("/data/out.txt", []byte("written by the guest"), 0o600))
	fmt.Println(recovered())
	var wait sync.WaitGroup
	sums := make([]uint64, 8)
	for i := range sums {
		wait.Add(1)
		go func() {
			defer wait.Done()
			time.Sleep(time.Duration(8-i) * time.Millisecond)
			for n := range uint64(20_000) {
				sums[i] += hash(n * uint64(i+1))
			}
		}()
	}
	wait.Wait()
	sort.Slice(sums, func(i, j int) bool { return sums[i] < sums[j] })
	fmt.Println(sums)
	os.Exit(3)
}

func hash(n uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, n)
	return h.Sum64()
}

func recovered() (v any) {
	defer func() { v = recover() }()
	var none []int
	return none[len(os.Args)]
}
