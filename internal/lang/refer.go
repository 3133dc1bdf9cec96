package lang

import (
	"slices"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"

	"github.com/cocoon-go/cocoon/stubs"
)

// RefersTo returns the first of the names, in their order, of a state to which the text of a policy
// refers, or "". It needs no declarations: state.NAME and the first string in set("NAME", ...) and
// the like are references.
func RefersTo(text string, names []string) string {
	tokens, err := lexer.Lex(file.NewSource(text))
	if err != nil {
		return ""
	}
	found := map[string]bool{}
	for i := range len(tokens) - 2 {
		switch head, mark, name := tokens[i], tokens[i+1], tokens[i+2]; {
		case head.Is(lexer.Identifier, "state") && (mark.Is(lexer.Operator, ".") || mark.Is(lexer.Bracket, "[")),
			head.Kind == lexer.Identifier && ofStates[head.Value] && mark.Is(lexer.Bracket, "(") && name.Kind == lexer.String:
			found[name.Value] = true
		}
	}
	if i := slices.IndexFunc(names, func(name string) bool { return found[name] }); i >= 0 {
		return names[i]
	}
	return ""
}

// ofStates are the functions and effects whose first argument is the name of a state.
var ofStates = func() map[string]bool {
	names := map[string]bool{"rate": true, "average": true, stubs.Take.String(): true}
	for name := range Writes {
		names[name] = true
	}
	return names
}()
