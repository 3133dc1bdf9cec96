package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// serverConfig is the configuration of a server process.
type serverConfig struct {
	Mode   string
	Hashes int    // of a piece of work
	Page   string // address of the page; "" for none
	Folder string // for operators; "" for none
}

// serve is the body of the server process.
func serve(config serverConfig) error {
	mode, err := loadtest.ModeNamed(modes, config.Mode)
	if err != nil {
		return err
	}
	did := new(actions)
	limited, stop, err := mode.open(workHandler(config.Hashes), did, config.Folder)
	if err != nil {
		return err
	}
	all := handler(limited, did)
	closePage, err := servePage(config.Page, limited, all)
	if err != nil {
		return errors.Join(err, stop())
	}
	return errors.Join(loadtest.Serve(all), closePage(), stop())
}

// handler returns the server's handler, which is the same in all modes except for the limits on the
// work.
func handler(limited http.Handler, did *actions) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", withDeadline(limited))
	mux.HandleFunc("GET /actions", func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode(did.list()) })
	mux.HandleFunc("GET /hold", func(http.ResponseWriter, *http.Request) { time.Sleep(holdTime) })
	return mux
}

// holdTime is how long GET /hold keeps its connection, so that concurrent requests open new
// connections.
const holdTime = 100 * time.Millisecond

// withDeadline sets the deadline of each request's context, as a careful server does: a later
// response is useless.
func withDeadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pieces, err := piecesOf(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), timeFor(time.Duration(pieces)*piece))
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// workHandler does the work of the requests, in all modes.
func workHandler(hashes int) *http.ServeMux {
	mux := http.NewServeMux()
	for _, c := range classes {
		mux.HandleFunc("GET /"+c.name, func(w http.ResponseWriter, r *http.Request) {
			pieces, err := piecesOf(r)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			sum, err := work(r.Context(), hashes, pieces)
			if err != nil {
				late(w)
				return
			}
			fmt.Fprintf(w, "%x", sum)
		})
	}
	return mux
}

// late responds to a request after its deadline.
func late(w http.ResponseWriter) { http.Error(w, "too late", http.StatusGatewayTimeout) }

// refuse responds to a request before its start.
func refuse(w http.ResponseWriter) { http.Error(w, "overloaded", http.StatusServiceUnavailable) }

// maxPieces limits the work of a request.
const maxPieces = int(reportCost / piece)

func piecesOf(r *http.Request) (int, error) {
	text := r.URL.Query().Get("pieces")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPieces {
		return 0, fmt.Errorf("parameter pieces is %q; want 1 to %d", text, maxPieces)
	}
	return n, nil
}
