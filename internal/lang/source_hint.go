package lang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/parser/lexer"
)

// syntaxHint guesses the intended text where the parser did not expect the token i.
func (s *source) syntaxHint(i int) string {
	if hint := s.borrowed(i); hint != "" {
		return hint
	}
	if i > 0 && s.tokens[i-1].Is(lexer.Bracket, "}") {
		return "an if needs an else, { continue() } for nothing to do; statements are separated by ;"
	}
	if rego[s.tokens[0].Value] {
		return `a policy is one expression; write condition ? throw("reason") : continue()`
	}
	if i == len(s.tokens) {
		return ""
	}
	switch t := s.tokens[i]; {
	case t.Is(lexer.Operator, ":") && i > 0 && strings.HasPrefix(s.tokens[i-1].Value, "retry"):
		return `write throw("reason", duration("2s"))`
	case t.Is(lexer.Operator, ",") && s.inKey(i):
		return "a key of two parts is written state.NAME[tenant.name][task.name]"
	case t.Is(lexer.Operator, "=") && s.value(i+1) == ">":
		return "write >="
	case t.Is(lexer.Operator, "=") && s.value(i+1) == "<":
		return "write <="
	case t.Is(lexer.Operator, "="):
		return "compare with ==; name a value with let x = ...; and write a state with set(\"name\", value)"
	case t.Is(lexer.Operator, "&"), t.Is(lexer.Operator, "|"):
		return "write and, or"
	case t.Is(lexer.Operator, "#"):
		return "comments begin with //; # is the element of any, all, none and count, inside their second argument"
	case t.Is(lexer.Operator, "if"), t.Is(lexer.Operator, "let"):
		return "put it in parentheses"
	case s.bare(i):
		return "write if x { a } else { b }, or x ? a : b"
	case t.Kind == lexer.Identifier || t.Is(lexer.Operator, "let"):
		return "statements are separated by ;"
	}
	return ""
}

// inKey reports whether the token i is in brackets that follow a word, as in state.NAME[i].
func (s *source) inKey(i int) bool {
	for k := i; k > 0; k-- {
		if s.match[k] > i {
			return s.tokens[k].Value == "[" && s.tokens[k-1].Kind == lexer.Identifier
		}
	}
	return false
}

// borrowed guesses the intended text where the token i follows a form of other languages.
func (s *source) borrowed(i int) string {
	if i == 0 {
		return ""
	}
	t, before := s.value(i), s.tokens[i-1]
	if hint := foreignWords[strings.ToLower(t)]; hint != "" && before.Value != "." && !small[t] {
		return hint
	}
	if hint := foreignWords[strings.ToLower(before.Value)]; hint != "" && !small[before.Value] {
		return hint
	}
	switch {
	case before.Value == "throw" && i < len(s.tokens) && s.tokens[i].Kind == lexer.String:
		return fmt.Sprintf("write throw(%q)", t)
	case t == ":" && s.value(i+1) == "=":
		return "name a value with let x = ...;"
	case t == "else" && s.chosen(i):
		return "write if x { a } else { b }, or x ? a : b"
	case i == len(s.tokens) && s.value(i-1) == "+" && s.value(i-2) == "+":
		return `write add("name", 1)`
	case i == len(s.tokens) && s.chosen(i):
		return "a choice needs its other side; write : continue() for nothing to do"
	case before.Value == "return":
		return "write the verdict without return"
	case before.Is(lexer.Operator, "%") && i > 1 && s.tokens[i-2].Kind == lexer.Number:
		return percentHint(s.tokens[i-2].Value)
	case s.percentBrace(i) > 0:
		return percentHint(s.tokens[s.percentBrace(i)].Value)
	case before.Value == ";" && slices.Contains([]string{"}", ")", ":"}, t),
		t == ";" && slices.Contains([]string{":", "else", ")"}, s.value(i+1)):
		return "remove the ; which stands between two statements, and after none"
	}
	return ""
}

// foreignWords are words of other languages that stand where the parser expects none.
var foreignWords = map[string]string{
	"and": "write and in small letters", "or": "write or in small letters", "not": "write not in small letters",
	"var": "name a value with let x = ...;", "const": "name a value with let x = ...;", "def": "name a value with let x = ...;",
	"elif": "write else if", "elsif": "write else if", "elseif": "write else if",
	"when": "write if x { a } else { b }, or x ? a : b", "unless": "write if not (x) { a } else { b }, or x ? b : a",
	"case": "write if x { a } else if y { b } else { c }",
	"for":  "there are no loops; write any(list, p), all(list, p), none(list, p) or count(list, p)", "while": "there are no loops; write any(list, p), all(list, p), none(list, p) or count(list, p)",
	"like": likePattern, "~": likePattern, "=~": likePattern, "is": "compare with ==", "eq": "compare with ==", "between": "write x in 5..10",
}

// small are the words among them that the language has in small letters.
var small = map[string]bool{"and": true, "or": true, "not": true}

// percentHint says how a share is written.
func percentHint(number string) string {
	percent, err := strconv.ParseFloat(strings.ReplaceAll(number, "_", ""), 64)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("write %v for %v%%", percent/100, percent)
}

// percentBrace returns the place of the number in front of the last "% {" before the token i, or 0:
// the parser takes the braces for the remainder's right side.
func (s *source) percentBrace(i int) int {
	for k := min(i, len(s.tokens)) - 1; k > 1; k-- {
		if s.tokens[k].Value == "{" && s.tokens[k-1].Is(lexer.Operator, "%") && s.tokens[k-2].Kind == lexer.Number {
			return k - 2
		}
	}
	return 0
}

// chosen reports whether a ? without its : precedes the token i.
func (s *source) chosen(i int) bool {
	open := 0
	for _, t := range s.tokens[:i] {
		switch {
		case t.Is(lexer.Operator, "?"):
			open++
		case t.Is(lexer.Operator, ":"):
			open--
		}
	}
	return open > 0
}

// value returns the text of the token i, or "" before the first one and after the last one.
func (s *source) value(i int) string {
	if i < 0 || i >= len(s.tokens) {
		return ""
	}
	return s.tokens[i].Value
}

// bare reports whether the token i follows an if without braces.
func (s *source) bare(i int) bool {
	for k := i - 1; k >= 0 && s.tokens[k].Value != "{"; k-- {
		if s.tokens[k].Is(lexer.Operator, "if") {
			return true
		}
	}
	return false
}
