package victim

import (
	"log/slog"
	"strings"
	"sync"
)

// lines collects the runtime's log.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) < 1000 {
		l.all = append(l.all, strings.TrimSpace(string(line)))
	}
	return len(line), nil
}

// kept returns the lines about late throws, at most three.
func (l *lines) kept() (some []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if strings.Contains(line, "something keeps it") && len(some) < 3 {
			some = append(some, line)
		}
	}
	return some
}
