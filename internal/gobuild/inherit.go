package gobuild

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// inherit adopts flags from the environment, because -gcflags and -toolexec on the command line
// would hide them.
func (l *goLine) inherit() error {
	value, err := goFlags()
	if err != nil {
		return err
	}
	words, err := split(value)
	if err != nil {
		return fmt.Errorf("GOFLAGS: %w", err)
	}
	var gcflags []string
	for _, w := range words {
		switch name, value, _ := strings.Cut(strings.TrimLeft(w, "-"), "="); name {
		case "gcflags":
			gcflags = append(gcflags, value)
		case "toolexec":
			if l.toolexec == "" {
				l.toolexec = value
			}
		}
	}
	l.gcflags = append(gcflags, l.gcflags...)
	return nil
}

// goFlags returns GOFLAGS from the places that the go command reads: the environment, or else the
// file that go env -w writes. It does not ask the go command, because one more process would be
// noticeable in a build with nothing to do.
func goFlags() (string, error) {
	if value := os.Getenv("GOFLAGS"); value != "" {
		return value, nil
	}
	file := goEnvFile()
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the go command's settings: %w", err)
	}
	value := ""
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "GOFLAGS="); ok {
			value = v
		}
	}
	return value, nil
}

// goEnvFile returns the file that go env -w writes, "" for none.
func goEnvFile() string {
	switch file := os.Getenv("GOENV"); file {
	case "off":
		return ""
	case "":
		dir, err := os.UserConfigDir()
		if err != nil {
			return "" // the go command has no file then, either
		}
		return filepath.Join(dir, "go", "env")
	default:
		return file
	}
}
