package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/cocoon-go/cocoon/cocoondebug"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
)

// maxFetched bounds the response of a server, in bytes.
var maxFetched int64 = 32 << 20

// fetchSide reads the document that a server has in force.
func fetchSide(ctx context.Context, page, other string) (side, error) {
	u, err := besidePage(page, "documents", "")
	if err != nil {
		return side{}, err
	}
	_, wanted, _ := strings.Cut(page, "#")
	if wanted, err = url.PathUnescape(wanted); err != nil {
		return side{}, err
	}
	all, err := fetchDocuments(ctx, u)
	if err != nil {
		return side{}, fmt.Errorf("%s: %w", u, err)
	}
	found, err := chooseDocument(all.Documents, wanted, other)
	if err != nil {
		return side{}, fmt.Errorf("%s: %w", u, err)
	}
	doc, err := document.Read(strings.NewReader(found.Text))
	if err != nil {
		return side{}, document.InFile(err, page)
	}
	s := side{Document: doc, off: map[string]bool{}}
	modes := map[string]policy.Mode{}
	for _, p := range found.Policies {
		s.off[p.Name] = p.Off
		if mode, ok := policy.ModeNamed(p.Mode); ok {
			modes[p.Name] = mode
		}
	}
	for i, p := range doc.Policies {
		if mode, ok := modes[p.Name]; ok {
			doc.Policies[i].Mode = mode
		}
	}
	return s, nil
}

// fetchDocuments gets the documents of a server.
func fetchDocuments(ctx context.Context, u *url.URL) (all cocoondebug.Documents, err error) {
	late := fmt.Errorf("the server has not answered within %v", diffWithin)
	ctx, cancel := context.WithTimeoutCause(ctx, diffWithin, late)
	defer cancel()
	text, err := fetch(ctx, u)
	if err != nil {
		if context.Cause(ctx) == late {
			err = late
		}
		return all, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return all, fmt.Errorf("want the documents of package cocoondebug: %w", err)
	}
	if all.Documents == nil {
		return all, errors.New("this is JSON of something else; want the page of package cocoondebug")
	}
	return all, nil
}

// fetch gets a JSON text.
func fetch(ctx context.Context, u *url.URL) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err // the caller names the URL
		}
		return nil, err
	}
	defer response.Body.Close()
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode != http.StatusOK || kind != "application/json" {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 200))
		return nil, fmt.Errorf("%s, %q; want the page of package cocoondebug: %q", response.Status, kind, bytes.TrimSpace(text))
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxFetched+1))
	if err == nil && int64(len(text)) > maxFetched {
		err = fmt.Errorf("the response has more than %d bytes", maxFetched)
	}
	return text, err
}

// chooseDocument returns the document of the file wanted, or else the only one, or else the one
// with the name of the other side.
func chooseDocument(all []cocoondebug.Document, wanted, other string) (cocoondebug.Document, error) {
	var names []string
	var same []cocoondebug.Document // base name as the other side's
	for _, d := range all {
		if names = append(names, fmt.Sprintf("%q", d.File)); d.File == wanted {
			return d, nil
		}
		if path.Base(filepath.ToSlash(d.File)) == filepath.Base(other) {
			same = append(same, d)
		}
	}
	switch {
	case len(all) == 0:
		return cocoondebug.Document{}, errors.New("the server has loaded no document from a file")
	case wanted != "":
		return cocoondebug.Document{}, fmt.Errorf("the server has no document %q; it has %s", wanted, strings.Join(names, ", "))
	case len(all) == 1:
		return all[0], nil
	case len(same) == 1:
		return same[0], nil
	}
	return cocoondebug.Document{}, fmt.Errorf("the server has the documents %s; write URL#FILE", strings.Join(names, ", "))
}
