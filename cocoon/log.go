package cocoon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// logQueue carries the runtime's log lines to the Logger. The Logger is the user's code: it may be
// slow, block, panic, or call back into the runtime. So it runs on a goroutine of its own, which
// lives while there are lines, and the code that logs only appends to a short queue. All code of
// package cocoon logs through its methods (TestOnlyTheQueueKnowsTheLogger).
//
// With a goroutine for each line instead, a Logger that blocks could retain any number of
// goroutines.
type logQueue struct {
	given *slog.Logger // Config.Logger

	mu       sync.Mutex    // taken under a loop's lock
	lines    []logLine     // waiting; at most maxLines
	writing  bool          // a goroutine calls the Logger
	coming   int           // lines in preparation elsewhere, see expect
	left     int64         // lines dropped since the last line that says so
	lost     int64         // lines that the Logger never got or panicked at, in all
	panicked bool          // the Logger, once
	idle     chan struct{} // flush waits for it; nil: no flush does
}

// logLine is a call of the Logger, made if the Logger is enabled for the level.
type logLine struct {
	level slog.Level
	do    func(*slog.Logger)
}

const (
	// maxLines bounds the queue. A line with a stack takes some KiB.
	maxLines = 256

	// lastLines is how long Shutdown waits for the Logger.
	lastLines = time.Second
)

// logger returns the current Logger: a program may set the default one after New.
func (q *logQueue) logger() *slog.Logger {
	if q.given != nil {
		return q.given
	}
	return slog.Default()
}

// add logs a line. The args must not refer to anything that changes later. They must not be values
// of the user's either, because their methods would be called on another goroutine: format such
// values first. It costs about 0.5 µs (BenchmarkCosts), and may be called under any lock.
func (q *logQueue) add(level slog.Level, text string, args ...any) {
	q.put(newLine(level, text, caller(), func() []any { return args }))
}

// addLater is add for expensive args: args is called on the Logger's goroutine, if the Logger is
// enabled for the level.
func (q *logQueue) addLater(level slog.Level, text string, args func() []any) {
	q.put(newLine(level, text, caller(), args))
}

// caller returns where add was called, for slog.HandlerOptions.AddSource.
func caller() uintptr {
	var pc [1]uintptr
	runtime.Callers(3, pc[:])
	return pc[0]
}

func newLine(level slog.Level, text string, pc uintptr, args func() []any) logLine {
	at := time.Now()
	return logLine{level, func(l *slog.Logger) {
		r := slog.NewRecord(at, level, text, pc)
		r.Add(args()...)
		// Like package slog, ignore an error of the handler.
		l.Handler().Handle(context.Background(), r)
	}}
}

// expect calls prepare on a goroutine of its own, if the Logger is enabled for the level. prepare
// may add the line. Shutdown waits for it as long as for the Logger, so prepare must end when the
// runtime does.
func (q *logQueue) expect(level slog.Level, prepare func()) {
	q.put(logLine{level, func(*slog.Logger) { q.prepare(prepare) }})
}

// prepare is expect without a question to the Logger. It may be called under any lock.
func (q *logQueue) prepare(lines func()) {
	q.mu.Lock()
	q.coming++
	q.mu.Unlock()
	notify.Outside(func() {
		go func() {
			defer func() {
				q.mu.Lock()
				q.coming--
				q.settle()
				q.mu.Unlock()
			}()
			lines()
		}()
	})
}

// put appends a line, or counts it as dropped.
func (q *logQueue) put(line logLine) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) >= maxLines {
		q.left++
		q.lost++
		return
	}
	q.tellLeft()
	q.lines = append(q.lines, line)
	if !q.writing {
		q.writing = true
		notify.Outside(func() { go q.write() })
	}
}

// tellLeft appends the line that says how many lines were dropped. It precedes the next line, so
// the queue may hold one more than maxLines. Called with mu held.
func (q *logQueue) tellLeft() {
	if q.left == 0 {
		return
	}
	args := []any{"lines", q.left, "instead", "a faster Config.Logger: it took too long for the lines before"}
	q.left = 0
	q.lines = append(q.lines, newLine(slog.LevelWarn, "cocoon: log lines were left out", 0, func() []any { return args }))
}

// write passes all lines to the Logger, and ends when there are none, so that a runtime without
// lines has no goroutine for them.
func (q *logQueue) write() {
	ended := false
	defer func() {
		if !ended { // by runtime.Goexit, in the Logger
			go q.write()
		}
	}()
	for line, ok := q.next(); ok; line, ok = q.next() {
		q.give(line)
	}
	ended = true
}

func (q *logQueue) next() (line logLine, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) == 0 {
		q.tellLeft()
	}
	if len(q.lines) == 0 {
		q.lines, q.writing = nil, false
		q.settle()
		return line, false
	}
	line, q.lines[0] = q.lines[0], logLine{}
	q.lines = q.lines[1:]
	return line, true
}

// give passes one line to the Logger. If the Logger panics, the panic must neither end the program
// nor go unnoticed: the first one is reported on standard error, because there is no other place
// for it, and all are counted.
func (q *logQueue) give(line logLine) {
	returned := false
	defer func() {
		if returned {
			return
		}
		r := recover()
		if r == nil {
			r = "runtime.Goexit"
		}
		q.mu.Lock()
		q.lost++
		first := !q.panicked
		q.panicked = true
		q.mu.Unlock()
		if first {
			fmt.Fprintf(os.Stderr, "cocoon: a log line is missing, because Config.Logger panicked: %v; "+
				"Stats.LinesLost counts such lines, this is printed once\n", r)
		}
	}()
	if l := q.logger(); l.Enabled(context.Background(), line.level) {
		line.do(l)
	}
	returned = true
}

// settle wakes flush when all work is done. Called with mu held.
func (q *logQueue) settle() {
	if q.idle != nil && !q.writing && q.coming == 0 {
		close(q.idle)
		q.idle = nil
	}
}

// flush waits until the Logger has received all lines, for lastLines at most.
func (q *logQueue) flush() {
	q.mu.Lock()
	if q.idle == nil {
		q.idle = make(chan struct{})
	}
	idle := q.idle
	q.settle()
	q.mu.Unlock()
	patience := time.NewTimer(lastLines)
	defer patience.Stop()
	select {
	case <-idle:
	case <-patience.C:
	}
}

// missing returns how many lines the Logger never got, or panicked at.
func (q *logQueue) missing() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost
}

// textOfPanic formats a panic's value as a text handler would. The value is the user's and may
// change, so it is formatted on the goroutine that panicked. Package fmt recovers panics of its
// methods.
func textOfPanic(r any) string { return fmt.Sprintf("%+v", r) }
