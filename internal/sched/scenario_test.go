package sched

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the traces in testdata")

// TestScenarios plays the files in testdata. A file consists of blocks: comments, commands, a line
// of dashes, and the trace, which is the result of each command, then the loop. In a trace, "a>0"
// is task a getting slot 0, and "[b /a]" a slot with task b while a is suspended in it. parse lists
// the commands.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := play(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			} else if got != string(text) {
				t.Errorf("the trace differs (-update rewrites it):\n%s", firstDifference(string(text), got))
			}
		})
	}
}

// play returns the text with recomputed traces.
func play(text string) (string, error) {
	var out strings.Builder
	var w *world
	var trace []string
	inTrace := false
	for n, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		switch {
		case line == "----":
			inTrace = true
			out.WriteString("----\n" + strings.Join(append(trace, w.String()), "\n") + "\n")
			trace = nil
			continue
		case inTrace && line != "":
			continue // the old trace
		case inTrace:
			inTrace = false
		case line != "" && line[0] != '#':
			var said string
			var err error
			if w, said, err = perform(w, line); err != nil {
				return "", fmt.Errorf("line %d: %q: %w", n+1, line, err)
			}
			if said != "" {
				trace = append(trace, line[:len(line)-len(strings.TrimLeft(line, " "))]+short(line)+": "+said)
			}
		}
		out.WriteString(line + "\n")
	}
	if w == nil || trace != nil {
		return "", fmt.Errorf("commands without a trace: end each block with ----")
	}
	return out.String(), w.drain()
}

// short is a command without its options.
func short(line string) string {
	var words []string
	for _, word := range strings.Fields(line) {
		if !strings.Contains(word, "=") {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

func perform(w *world, line string) (*world, string, error) {
	if words := strings.Fields(line); words[0] == "loop" {
		cfg, err := parseLoop(words[1:])
		return newWorld(cfg), "", err
	}
	if w == nil {
		return nil, "", fmt.Errorf("there is no loop yet")
	}
	o, err := parse(line)
	if err != nil {
		return w, "", err
	}
	if why := w.legal(o); why != "" {
		return w, "", fmt.Errorf("a shell cannot: %s", why)
	}
	said, err := w.do(o)
	return w, said, err
}

// parseLoop parses words such as: loop slots=1 maxqueue=2 maxstarted=3 maxbypass=10ms
func parseLoop(words []string) (cfg Config, err error) {
	cfg.Slots = 1
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		n, d := 0, time.Duration(0)
		if key == "maxbypass" {
			d, err = time.ParseDuration(value)
		} else {
			n, err = strconv.Atoi(value)
		}
		if err != nil {
			return cfg, err
		}
		switch key {
		case "slots":
			cfg.Slots = n
		case "maxqueue":
			cfg.MaxQueue = n
		case "maxstarted":
			cfg.MaxStarted = n
		case "maxbypass":
			cfg.MaxBypass = int64(d)
		default:
			return cfg, fmt.Errorf("a loop has no %q", key)
		}
	}
	return cfg, nil
}

// parse parses: arrive a kind=both rank=3 group=x cost=1ms background=true, rank a rank=-1, nest a
// b kind=safe, unnest a b, adopt a kind=safe 2ms, advance 3ms, hold, release, open, shut, load, and
// with a task: block, unblock, yield, suspend, lend, exit, withdraw, account.
func parse(line string) (o op, err error) {
	words := strings.Fields(line)
	o.verb = words[0]
	var names []string
	for _, word := range words[1:] {
		key, value, option := strings.Cut(word, "=")
		switch {
		case o.verb == "advance" || o.verb == "adopt" && len(names) == 1:
			if o.d, err = time.ParseDuration(word); err != nil {
				return o, err
			}
		case !option:
			names = append(names, word)
		case key == "kind":
			if o.kind, err = parseKind(value); err != nil {
				return o, err
			}
		case key == "background":
			if o.bg, err = strconv.ParseBool(value); err != nil {
				return o, err
			}
		case key == "group":
			o.in = value
		case key == "cost":
			if o.cost, err = time.ParseDuration(value); err != nil {
				return o, err
			}
		case key == "rank":
			if o.rank, err = strconv.ParseInt(value, 10, 64); err != nil {
				return o, err
			}
		default:
			return o, fmt.Errorf("unknown option %q", word)
		}
	}
	if len(names) > 0 {
		o.task = names[0]
	}
	if len(names) > 1 {
		o.with = names[1]
	}
	return o, nil
}

func parseKind(name string) (Kind, error) {
	for k, n := range kindNames {
		if n == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("no kind %q", name)
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d:\n  have %s\n  want %s", i+1, b[i], a[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(b), len(a))
}
