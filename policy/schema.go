package policy

import _ "embed"

// Schema is the JSON Schema of documents, for editors. It takes all documents that ReadDocument
// takes, and refuses most of the others; what it cannot say is left to cocoon policy check.
//
//go:embed schema.json
var Schema []byte
