package instrument_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/cocoon-go/cocoon/instrument"
)

// Rewrite inserts a poll into a loop, and leaves every line in its place.
func ExampleRewrite() {
	folder, err := os.MkdirTemp("", "instrument-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "search.go")
	const source = `package search

func Longest(words []string) (longest string) {
	for _, w := range words {
		if len(w) > len(longest) {
			longest = w
		}
	}
	return longest
}
`
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		log.Fatal(err)
	}
	result, err := instrument.Rewrite(instrument.Package{Path: "example.com/search", Files: []string{file}}, instrument.Options{})
	if err != nil {
		log.Fatal(err)
	}
	text := string(result.Files[file])
	fmt.Println("loops with a poll:", result.Stats.LoopPolls+result.Stats.Strips)
	fmt.Println("lines:", strings.Count(source, "\n"), "before,", strings.Count(text, "\n"), "after")
	// Output:
	// loops with a poll: 1
	// lines: 10 before, 10 after
}
