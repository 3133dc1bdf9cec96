package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"

	"go.opentelemetry.io/otel"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonotel"
)

// wiring shows a runtime to its operators, as docs/operate.md says, by means of a folder. Without a
// folder it does nothing but load the policies.
type wiring struct {
	folder string
	log    *os.File // of refusals
	unwire []func()
}

func newWiring(folder string) (*wiring, error) {
	w := &wiring{folder: folder}
	if folder == "" {
		return w, nil
	}
	if err := os.MkdirAll(filepath.Join(folder, "flights"), 0o755); err != nil {
		return nil, err
	}
	var err error
	w.log, err = os.OpenFile(filepath.Join(folder, "refusals.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return w, err
}

// recorder returns the flight recorder for the runtime's configuration.
func (w *wiring) recorder() (r cocoon.FlightRecorder) {
	if w.folder != "" {
		r.Folder = filepath.Join(w.folder, "flights")
	}
	return r
}

// documents returns the files that operators may load.
func (w *wiring) documents() []string {
	if w.folder == "" {
		return nil
	}
	return []string{filepath.Join(w.folder, "policies.yaml")}
}

// wire watches the policies of the folder, after making the file if there is none, and tells the
// spans and meters of OpenTelemetry, if the program has set any.
func (w *wiring) wire(rt *cocoon.Runtime) error {
	if w.folder == "" {
		return loadPolicies(rt)
	}
	name := w.documents()[0]
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(name, []byte(policies), 0o644); err != nil {
			return err
		}
	}
	stop, err := cocoonotel.Instrument(rt, otel.GetMeterProvider(), otel.GetTracerProvider())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.unwire = append(w.unwire, cancel, func() { stop() })
	return rt.WatchPolicyFile(ctx, name)
}

// logRefusal writes a line about a request that was refused or thrown into, with the id of the
// request, which the response gets.
func (w *wiring) logRefusal(rw http.ResponseWriter, r *http.Request, err error) {
	if w.log == nil {
		return
	}
	id := r.Header.Get("X-Request-Id")
	if id == "" {
		id = "req-" + rand.Text()[:8]
	}
	rw.Header().Set("X-Request-Id", id)
	slog.New(slog.NewJSONHandler(w.log, nil)).Warn("request refused", "request", id, "err", err)
}

func (w *wiring) close() error {
	for _, f := range w.unwire {
		f()
	}
	if w.log == nil {
		return nil
	}
	return w.log.Close()
}
