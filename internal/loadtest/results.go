package loadtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Results prints the result of each mode: JSON objects at once, or one table at the end. Only one
// goroutine may use it.
type Results struct {
	w      io.Writer
	json   bool
	header []string
	rows   [][]string
	err    error // of the first write that failed
}

// NewResults returns results for the writer w; header is the table's header.
func NewResults(w io.Writer, json bool, header ...string) *Results {
	return &Results{w: w, json: json, header: header}
}

// Add adds a result: the object, and the same result as cells of the table.
func (r *Results) Add(object any, cells ...string) {
	if !r.json {
		r.rows = append(r.rows, cells)
	} else if err := json.NewEncoder(r.w).Encode(object); r.err == nil {
		r.err = err
	}
}

// Finish prints the table, if there is a result.
func (r *Results) Finish() error {
	if len(r.rows) == 0 {
		return r.err
	}
	w := tabwriter.NewWriter(r.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{r.header}, r.rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	return errors.Join(r.err, w.Flush())
}
