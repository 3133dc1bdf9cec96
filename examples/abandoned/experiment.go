package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// bound is how soon abandoned work should be stopped.
const bound = 10 * time.Millisecond

// experiment abandons a server's work, round after round.
type experiment struct {
	mode   string
	config serverConfig
	rounds int
	cores  []int // the server's
	stderr io.Writer
}

// outcome is the result of one mode.
type outcome struct {
	Mode    string
	Alone   time.Duration // the duration of the work if the client waits
	Left    int           // how often the client disconnected before the work had ended
	Stopped int
	InTime  int                // how many of them ended within bound
	Late    loadtest.Latencies // how long after the disconnect the work ended
}

func (e experiment) run(ctx context.Context, console *loadtest.Console) (o outcome, err error) {
	console.Status("%s: making a value of %d MB of JSON", e.mode, e.config.Size)
	server, address, err := loadtest.StartServer(ctx, e.config, e.cores, nil, e.stderr)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	c := client{http: loadtest.NewClient(), url: "http://" + address}
	o.Mode = e.mode
	for i := range 3 { // json.Marshal keeps its buffers, so the first rounds take longer
		patient, err := c.wait(ctx)
		if err != nil {
			return o, err
		}
		if i == 0 || patient.Took < o.Alone {
			o.Alone = patient.Took
		}
	}
	var late []time.Duration
	for i := range e.rounds {
		phase := fmt.Sprintf("%s: the client leaves %d times", e.mode, e.rounds)
		console.Progress(phase, fmt.Sprintf("%s: the client leaves, time %d of %d", e.mode, i+1, e.rounds))
		left, end, err := c.leave(ctx, o.Alone*time.Duration(i+1)/time.Duration(e.rounds+1))
		if err != nil {
			return o, err
		}
		if end.Stopped != "" {
			o.Stopped++
		}
		if l := time.Duration(end.Ended - left.UnixNano()); l > 0 {
			late = append(late, l)
			if end.Stopped != "" && l <= bound {
				o.InTime++
			}
		}
	}
	console.Clear()
	o.Left, o.Late = len(late), loadtest.SumUp(late)
	return o, nil
}

// client requests the value.
type client struct {
	http *http.Client
	url  string
}

// wait requests the value and waits for it, as a client should.
func (c client) wait(ctx context.Context) (export, error) {
	if err := c.export(ctx); err != nil {
		return export{}, err
	}
	return c.ended(ctx)
}

// leave requests the value, closes the connection after a time, and returns the time of the close
// and the result of the work. If the response came before, the client has disconnected normally,
// after it.
func (c client) leave(ctx context.Context, after time.Duration) (left time.Time, end export, err error) {
	impatient, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- c.export(impatient) }()
	select {
	case err = <-answered:
		left = time.Now()
	case <-time.After(after):
		left = time.Now()
		cancel()
		if err = <-answered; errors.Is(err, context.Canceled) && ctx.Err() == nil {
			err = nil
		}
	}
	if err != nil {
		return left, end, err
	}
	end, err = c.ended(ctx)
	return left, end, err
}

// export requests the value, and discards it.
func (c client) export(ctx context.Context) error {
	return c.get(ctx, "/export", func(body io.Reader) error {
		_, err := io.Copy(io.Discard, body)
		return err
	})
}

// ended asks for the result of the work, and waits until the work has ended.
func (c client) ended(ctx context.Context) (end export, err error) {
	err = c.get(ctx, "/ended", func(body io.Reader) error { return json.NewDecoder(body).Decode(&end) })
	return end, err
}

func (c client) get(ctx context.Context, path string, read func(io.Reader) error) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: status %s", path, response.Status)
	}
	if err := read(response.Body); err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}
