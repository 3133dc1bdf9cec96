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

// service is the server's work, the part in which plain net/http and Cocoon differ.
type service interface {
	get(ctx context.Context, id uint64) ([]byte, error)
	scan(ctx context.Context, from, to uint64) (summary, error)
	close() error
}

// serverConfig is the configuration of a server process.
type serverConfig struct {
	Mode     string
	Database string
}

// serve is the body of the server process.
func serve(config serverConfig) error {
	mode, err := loadtest.ModeNamed(modes, config.Mode)
	if err != nil {
		return err
	}
	db, err := openStore(config.Database)
	if err != nil {
		return err
	}
	defer db.close()
	svc, err := mode.open(db)
	if err != nil {
		return err
	}
	return errors.Join(loadtest.Serve(handler(svc)), svc.close())
}

// handler is the HTTP side of a service. It reads requests and writes responses outside the
// service's work.
func handler(svc service) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /get", func(w http.ResponseWriter, r *http.Request) {
		id, err := numberParam(r, "id")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		value, err := svc.get(r.Context(), id)
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		case value == nil:
			http.Error(w, fmt.Sprintf("no record %d", id), http.StatusNotFound)
		default:
			w.Write(value)
		}
	})
	mux.HandleFunc("GET /scan", func(w http.ResponseWriter, r *http.Request) {
		from, fromErr := numberParam(r, "from")
		to, toErr := numberParam(r, "to")
		if err := errors.Join(fromErr, toErr); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		sum, err := svc.scan(r.Context(), from, to)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		json.NewEncoder(w).Encode(sum)
	})
	mux.HandleFunc("GET /usage", func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(currentUsage())
	})
	return mux
}

func numberParam(r *http.Request, name string) (uint64, error) {
	text := r.URL.Query().Get(name)
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parameter %s is %q; want a record number", name, text)
	}
	return n, nil
}

// usage is the processor time that the server has used up to a time. The difference of two usages
// is its load, however late the second response comes.
type usage struct {
	CPU   time.Duration
	Clock time.Duration // since the server's start
}

var started = time.Now()

func currentUsage() usage { return usage{CPU: loadtest.CurrentUsage().CPU, Clock: time.Since(started)} }

// since returns the load since an earlier usage, in cores.
func (u usage) since(earlier usage) float64 {
	if u.Clock <= earlier.Clock {
		return 0
	}
	return float64(u.CPU-earlier.CPU) / float64(u.Clock-earlier.Clock)
}
