package loadtest

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Mode is the common part of the ways to run a server; the examples embed it in their own modes.
type Mode struct {
	Name, About string
	Extra       bool // it runs only if the flag -modes names it
}

func (m Mode) mode() Mode { return m }

// Check returns the reason why an experiment cannot continue after it has run the mode: it was
// interrupted, it failed, or requests went wrong, in which case the error has their number and the
// first error.
func (m Mode) Check(ctx context.Context, failed error, wrong int, first string) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case failed != nil:
		return fmt.Errorf("mode %s: %w", m.Name, failed)
	case wrong > 0:
		return fmt.Errorf("mode %s: %d requests went wrong; the first: %s", m.Name, wrong, first)
	}
	return nil
}

// moded is a struct that embeds Mode.
type moded interface{ mode() Mode }

// ModeNames returns the names as the flag -modes takes them.
func ModeNames[M moded](all []M) string {
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.mode().Name
	}
	return strings.Join(names, ",")
}

// ModeNamed returns the mode with the given name.
func ModeNamed[M moded](all []M, name string) (found M, err error) {
	i := slices.IndexFunc(all, func(m M) bool { return m.mode().Name == name })
	if i < 0 {
		return found, fmt.Errorf("no mode is named %q; there are %s", name, strings.ReplaceAll(ModeNames(all), ",", ", "))
	}
	return all[i], nil
}

// ChooseModes returns the modes that the flag -modes names, in its order.
func ChooseModes[M moded](all []M, flag string) (chosen []M, err error) {
	for name := range strings.SplitSeq(flag, ",") {
		m, err := ModeNamed(all, name)
		if err != nil {
			return nil, fmt.Errorf("-modes %s: %w", flag, err)
		}
		chosen = append(chosen, m)
	}
	return chosen, nil
}

// DescribeModes writes a line about each mode.
func DescribeModes[M moded](w io.Writer, all []M) {
	for _, m := range all {
		fmt.Fprintf(w, "  %-11s %s\n", m.mode().Name, m.mode().About)
	}
}
