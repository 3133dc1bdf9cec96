package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/cocoon-go/cocoon/policy/document"
)

const diffUsage = `usage: cocoon policy diff [-json] OLD NEW

diff says what a server would change that has loaded OLD and is told to load NEW in its place: what it would add (+), change
(~) and remove (-). It does not look at expressions that a server would refuse; check does. The file - is the standard
input.

OLD or NEW may be the URL of the page that a server serves with package cocoondebug. It stands for the document that the
server has in force, with the modes that operators have given to its policies: a mode that an operator has set stays until
the document is loaded with another text or mode of the policy. A URL without a path stands for the path /debug/cocoon/,
and HOST:PORT, if no file has that name, for http://HOST:PORT.
Of several documents, diff takes the one whose file has the name of the other side; write URL#FILE for another one.

  cocoon policy diff http://localhost:6060 policies.yaml

  -json  print a JSON array, one object a change

Exit codes: 0 no change, 1 changes, or a file is no document, 2 wrong use or unreadable input.
`

// diffWithin bounds how long diff waits for a server.
var diffWithin = 10 * time.Second

func runDiff(fs *flag.FlagSet) func([]string, streams) (int, error) {
	asJSON := fs.Bool("json", false, "")
	return func(sides []string, s streams) (int, error) {
		if len(sides) != 2 {
			return 0, errors.New("name two documents, the old one and the new one")
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		old, err := readSide(ctx, sides[0], sides[1], s.in)
		if err != nil {
			return 0, err
		}
		new, err := readSide(ctx, sides[1], sides[0], s.in)
		if err != nil {
			return 0, err
		}
		changes := document.Diff(old.Document, new.Document, old.off)
		if *asJSON {
			err = printJSON(s.out, append([]document.Change{}, changes...))
		} else {
			for _, c := range changes {
				fmt.Fprintln(s.out, c)
			}
		}
		if err != nil || len(changes) == 0 {
			return exitOK, err
		}
		return exitFound, nil
	}
}

// side is one of the compared documents.
type side struct {
	*document.Document
	off map[string]bool // policies that a server does not evaluate any more
}

// readSide reads a side from a file or a server; other is the name of the other side.
func readSide(ctx context.Context, name, other string, in io.Reader) (side, error) {
	if isPage(name) {
		return fetchSide(ctx, name, other)
	}
	doc, err := readDocument(name, in)
	return side{Document: doc}, err
}

// isPage reports whether a side is the address of a page. HOST:PORT is one, as for top, unless a
// file has that name.
func isPage(name string) bool {
	if strings.Contains(name, "://") {
		return true
	}
	u, err := url.Parse("http://" + name)
	if err != nil || u.Port() == "" {
		return false
	}
	_, err = os.Stat(name)
	return errors.Is(err, fs.ErrNotExist)
}
