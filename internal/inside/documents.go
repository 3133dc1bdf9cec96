package inside

// Documents returns what the documents of a *cocoon.Runtime have in force, in the order of the
// names of their files. A document that was not read from a file is not among them.
var Documents func(runtime any) []Document

// Document is a loaded document.
type Document struct {
	File     string // as LoadPolicyFile got its name
	Text     string
	Policies []DocumentPolicy
}

// DocumentPolicy is the current state of a policy that a document has loaded.
type DocumentPolicy struct {
	Name string
	Mode string // its own; the mode of the runtime may be greater
	Off  bool   // cancelled, replaced by code, or switched off after errors
}
