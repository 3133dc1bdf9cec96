package cocoondebug

import (
	"encoding/json"
	"net/http"

	"github.com/cocoon-go/cocoon/internal/inside"
)

// Documents is the response to a GET of the path "documents": the documents that were loaded from
// files, and their policies in force. It is not part of a Snapshot, because texts of documents are
// long, and change seldom. cocoon policy diff reads it.
type Documents struct {
	Documents []Document `json:"documents"` // in the order of their files' names
}

// Document is a document in force.
type Document struct {
	File     string           `json:"file"` // the name passed to LoadPolicyFile
	Text     string           `json:"text"` // the whole text, at most document.MaxSize bytes
	Policies []DocumentPolicy `json:"policies"`
}

// DocumentPolicy is a policy of a document.
type DocumentPolicy struct {
	Name string `json:"name"`
	Mode string `json:"mode"` // the policy's own mode, which an operator may have changed
	Off  bool   `json:"off"`  // cancelled, replaced by code, or switched off after errors
}

// documents serves Documents.
func (h *handler) documents(w http.ResponseWriter) {
	all := Documents{Documents: []Document{}}
	for _, d := range inside.Documents(h.rt) {
		shown := Document{File: d.File, Text: d.Text, Policies: []DocumentPolicy{}}
		for _, p := range d.Policies {
			shown.Policies = append(shown.Policies, DocumentPolicy(p))
		}
		all.Documents = append(all.Documents, shown)
	}
	text, err := json.Marshal(all)
	if err != nil {
		http.Error(w, "cocoondebug: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // the client may have gone
}
