package main

import (
	"debug/elf"
	"debug/gosym"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"
)

// lazy has methods that take longer than the time limit, and that packages call which recover
// panics.
type lazy struct{}

const lazyText = "lazy"

func (lazy) String() string {
	for begin := time.Now(); time.Since(begin) < 10*time.Millisecond; {
	}
	return lazyText
}

func (lazy) Set(string) error { return nil }

// lazyValue and lazyJSON have the same method under the names that slog calls.
type (
	lazyValue struct{}
	lazyJSON  struct{}
)

func (lazyValue) LogValue() slog.Value { return slog.StringValue(lazy{}.String()) }

func (lazyJSON) MarshalJSON() ([]byte, error) { return []byte(`"` + lazy{}.String() + `"`), nil }

// texts is an engine that makes the same text again and again. No text may contain a throw.
func texts(name string, text func() string) engine {
	wrong := ""
	return engine{
		name,
		func() error {
			for {
				if s := text(); !strings.Contains(s, lazyText) || strings.Contains(s, "preempted") {
					wrong = s
				}
			}
		},
		func() error { return equal(wrong, "") },
	}
}

func printing() engine {
	return texts("fmt", func() string { return fmt.Sprintf("%v", lazy{}) })
}

func logging() engine {
	return texts("slog.LogValuer", func() string {
		var b strings.Builder
		slog.New(slog.NewTextHandler(&b, nil)).Info("x", "v", lazyValue{})
		return b.String()
	})
}

func marshalled() engine {
	return texts("slog.JSONHandler", func() string {
		var b strings.Builder
		slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "v", lazyJSON{})
		return b.String()
	})
}

func usage() engine {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.Var(lazy{}, "v", lazyText)
	return texts("flag", func() string {
		var b strings.Builder
		f.SetOutput(&b)
		f.PrintDefaults()
		return b.String()
	})
}

// symbols reads the program's own symbols, where it can.
func symbols() engine {
	counts := map[int]bool{}
	read := func() {
		table, _ := gosym.NewTable(nil, gosym.NewLineTable(lineTable, 0))
		counts[len(table.Funcs)] = true
	}
	return engine{
		"debug/gosym",
		func() error {
			for {
				read()
			}
		},
		func() error {
			read()
			return equal(len(counts), 1)
		},
	}
}

var lineTable = func() []byte {
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil // another system
	}
	defer f.Close()
	s := f.Section(".gopclntab")
	if s == nil {
		return nil
	}
	data, _ := s.Data()
	return data
}()
