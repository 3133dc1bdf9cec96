package document

import (
	_ "embed"
)

// Schema is the JSON Schema of documents, for editors. It accepts all documents that Read
// accepts, and refuses most wrong documents; cocoon policy check finds the remaining errors.
//
//go:embed schema.json
var Schema []byte
