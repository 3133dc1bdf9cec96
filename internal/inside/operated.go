package inside

// Operated puts what an operator does into the decisions of a *cocoon.Runtime, as an action: about
// a *cocoon.Task, a policy or the file of a document, or about none of them.
var Operated func(runtime, task any, policy, file, what string)

// LoadSeen makes a *cocoon.Runtime load a document, if seen returns nil. seen gets the SHA-256 sum
// of the file's text, and what loading it would change. The file is read once, so what is loaded is
// what seen was asked about. seen must not load a document.
var LoadSeen func(runtime any, name string, seen func(text [32]byte, changes []string) error) error
