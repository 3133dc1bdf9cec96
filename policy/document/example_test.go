package document_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/cocoon-go/cocoon/policy/document"
)

// Read checks the form of a document. Parse checks the expression of each of its policies.
func Example() {
	doc, err := document.Read(strings.NewReader(`
version: 1
policies:
  - name: shed
    on: enqueue
    expr: 'queue.length > 100 ? throw("busy") : continue()'
  - name: misspelt
    on: enqueue
    expr: 'queue.length > "100" ? throw("busy") : continue()'
`))
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range doc.Policies {
		_, err := p.Parse(nil, nil)
		fmt.Println(p.Name+":", err)
	}
	// Output:
	// shed: <nil>
	// misspelt: policy "misspelt": policy.expr:1:1: queue.length is a count and "100" is a string
}
