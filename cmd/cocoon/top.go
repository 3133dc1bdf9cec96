package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/cocoon-go/cocoon/cocoondebug"
)

const topUsage = `usage: cocoon top [-sort cpu|wait|throws] [-once] [-json] URL

top shows what a running server does: its loops, which tasks use their slots, wait
and are thrown into, its policies, and what was decided last. URL is the address
of the page that the server serves with package cocoondebug; a URL without a path
stands for the path /debug/cocoon/.

keys: c, w and t sort by slots in use, by waits, and by throws; p pauses; q quits.

With -once it prints one snapshot of a second. With -json it prints snapshots as
JSON, one a line, until it is interrupted; -once -json prints one.

flags:
`

// onceWindow is how long a snapshot of -once looks at the server.
const onceWindow = time.Second

// top is the verb top with its options.
type top struct {
	streams
	url        *url.URL
	sort       cocoondebug.Sort
	once, json bool
}

// runTop is the verb top.
func runTop(args []string, s streams) int {
	t, code := parseTop(args, s)
	if t == nil {
		return code
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if t.once || t.json {
		return t.print(ctx)
	}
	in, isFile := s.in.(*os.File)
	out, isFileToo := s.out.(*os.File)
	if !isFile || !isFileToo || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		fmt.Fprintln(s.err, "cocoon top: this is not a terminal; use -once or -json")
		return exitUsage
	}
	was, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		fmt.Fprintln(s.err, "cocoon top:", err)
		return exitUsage
	}
	err = t.show(ctx, func() (int, int) {
		width, height, err := term.GetSize(int(out.Fd()))
		if err != nil {
			return 80, 24
		}
		return width, height
	})
	if err := errors.Join(err, term.Restore(int(in.Fd()), was)); err != nil {
		fmt.Fprintln(s.err, "cocoon top:", err)
		return exitFound
	}
	return exitOK
}

// parseTop returns nil and the exit code if there is nothing to do.
func parseTop(args []string, s streams) (*top, int) {
	t := &top{streams: s}
	flags := flag.NewFlagSet("top", flag.ContinueOnError)
	flags.SetOutput(s.err)
	by := flags.String("sort", string(cocoondebug.ByCPU), "sort names by `cpu`, wait or throws")
	flags.BoolVar(&t.once, "once", false, "print one snapshot and end")
	flags.BoolVar(&t.json, "json", false, "print JSON")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), topUsage)
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil, exitOK
	case err != nil:
		return nil, exitUsage
	case flags.NArg() != 1:
		fmt.Fprintln(s.err, "cocoon top: want one URL; run cocoon top -h")
		return nil, exitUsage
	}
	switch t.sort = cocoondebug.Sort(*by); t.sort {
	case cocoondebug.ByCPU, cocoondebug.ByWait, cocoondebug.ByThrows:
	default:
		fmt.Fprintf(s.err, "cocoon top: -sort %q; want cpu, wait or throws\n", *by)
		return nil, exitUsage
	}
	var err error
	if t.url, err = streamOf(flags.Arg(0)); err != nil {
		fmt.Fprintln(s.err, "cocoon top:", err)
		return nil, exitUsage
	}
	return t, exitOK
}

// streamOf returns the address of the stream of the page at an address.
func streamOf(page string) (*url.URL, error) { return besidePage(page, "stream", "format=json") }

// besidePage returns the address of what the server of a page serves next to it under a name.
func besidePage(page, name, query string) (*url.URL, error) {
	if !strings.Contains(page, "://") {
		page = "http://" + page
	}
	u, err := url.Parse(page)
	if err != nil {
		return nil, err
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the address of a page; want http://HOST:PORT/PATH/", page)
	}
	u.Path = strings.TrimSuffix(cmp.Or(strings.TrimSuffix(u.Path, "/"), "/debug/cocoon"), "/") + "/" + name
	u.RawPath, u.RawQuery, u.Fragment, u.RawFragment = "", query, "", ""
	return u, nil
}

// print prints snapshots without a terminal.
func (t *top) print(ctx context.Context) int {
	out := json.NewEncoder(t.out)
	shown := errors.New("shown")
	err := t.follow(ctx, func(s *cocoondebug.Snapshot) error {
		switch {
		case t.once && s.Window < onceWindow && !s.Ended:
			return nil
		case t.json:
			if err := out.Encode(s); err != nil {
				return err
			}
		default:
			for _, line := range t.lines(s, 1<<10, 1<<10) {
				fmt.Fprintln(t.out, line)
			}
		}
		if t.once {
			return shown
		}
		return nil
	})
	if err != nil && err != shown && ctx.Err() == nil {
		fmt.Fprintln(t.err, "cocoon top:", err)
		return exitFound
	}
	return exitOK
}
