// Package policyread reads documents, and imports no other package that knows policies.
package policyread

import (
	"strings"

	"github.com/cocoon-go/cocoon/policy/document"
)

func read() error {
	_, err := document.Read(strings.NewReader("version: 1\nlimits: [{fun: a}]\n")) // want `a limit has no key "fun"; did you mean func\?`
	return err
}
