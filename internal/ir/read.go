package ir

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/stubs"
)

// Bounds of the windows of quantiles, and of rates and averages of states.
const (
	MinWindow     = 10 * time.Millisecond
	MaxWindow     = 7 * 24 * time.Hour
	DefaultWindow = 10 * time.Second // of a quantile without a window
)

// OfState reports whether the read is about a state: its value, its rate or its average.
func (r Read) OfState() bool { return stubs.State <= r.Stub && r.Stub <= stubs.StateAverage }

// OfClock reports whether the read is about the time of day.
func (r Read) OfClock() bool { return stubs.ClockMinute <= r.Stub && r.Stub <= stubs.ClockWeekday }

// String returns the read as a policy writes it; for a draw it names the chance in the text.
func (r Read) String() string {
	if r.Stub == stubs.Draw {
		return "the draw of chance " + r.Key
	}
	if r.OfState() {
		switch r.Stub {
		case stubs.StateRate:
			return fmt.Sprintf("rate(%q, duration(%q))", r.Key, r.Window)
		case stubs.StateAverage:
			return fmt.Sprintf("average(%q, duration(%q))", r.Key, r.Window)
		}
		if r.By != nil {
			return fmt.Sprintf("state.%s[%s]", r.Key, strings.Join(r.By.Texts(), "]["))
		}
		return "state." + r.Key
	}
	path := stubs.Catalogue[r.Stub].Path
	switch {
	case r.Pattern != "" && r.Stub == stubs.TaskSections:
		return fmt.Sprintf("%s[pattern(%q)]", path, r.Pattern)
	case r.Pattern != "":
		return fmt.Sprintf("%s in pattern(%q)", r.Name(), r.Pattern)
	case r.Taken == TakenHash:
		return fmt.Sprintf("hash(%s)", r.Name())
	case r.Taken == TakenInt, r.Taken == TakenFloat:
		return fmt.Sprintf("%v(%s, %v)", r.Type, r.Name(), stubs.Value(r.Default, r.Type))
	case r.Key != "":
		return fmt.Sprintf("%s[%q]", path, r.Key)
	case r.Quantile == 0:
		return path
	case r.Window == DefaultWindow:
		return fmt.Sprintf("%s(%v)", path, r.Quantile)
	}
	return fmt.Sprintf("%s(%v, duration(%q))", path, r.Quantile, r.Window)
}

// maxNumber is the greatest length of the text of a number, in bytes, so that a text of a megabyte
// is refused at no cost.
const maxNumber = 64

// Take returns the word that the read computes from a name with that text.
func (r Read) Take(text string) uint64 {
	switch r.Taken {
	case TakenHash:
		return Hash(text)
	case TakenInt:
		if len(text) > maxNumber {
			break
		}
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return uint64(i)
		}
	case TakenFloat:
		decimal := func(c rune) bool { return c >= '0' && c <= '9' || strings.ContainsRune("+-.eE", c) }
		if len(text) > maxNumber || strings.TrimFunc(text, decimal) != "" {
			break
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return math.Float64bits(f)
		}
	}
	return r.Default
}

// Name returns the read of the name from which r is computed; r itself if it is not computed from a
// name.
func (r Read) Name() Read {
	if r.Taken == TakenWhole && (r.Pattern == "" || r.Stub == stubs.TaskSections) {
		return r
	}
	return Read{Stub: r.Stub, Key: r.Key, Type: stubs.Name, Words: 1}
}
