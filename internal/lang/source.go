package lang

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/snippet"
)

// Bounds of a policy's text. They are checked before the recursive parser runs.
const (
	MaxText   = 64 << 10 // bytes, without lists
	MaxTokens = 4096     // words, numbers, strings and operators, without lists
	MaxDepth  = 100      // nested brackets, prefix operators, ?:, if and let
)

// source is a policy's text with its tokens. It translates the parser's positions, which are in
// characters and lack the ends, into byte ranges.
type source struct {
	text   string
	tokens []lexer.Token
	at     map[int]int  // offset of a token in characters -> its index
	match  []int        // of a bracket: the index of its partner; -1 otherwise
	least  map[int]bool // numbers after a sign that fit only with it
	bytes  []int        // offset in characters -> in bytes
	spans  map[ast.Node]span
}

// read splits the text into tokens and checks its bounds.
func read(text string) (*source, *ir.Error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	s := &source{text: text, at: map[int]int{}, least: map[int]bool{}, spans: map[ast.Node]span{}}
	for i := range text {
		s.bytes = append(s.bytes, i)
	}
	s.bytes = append(s.bytes, len(text))
	tokens, err := lexer.Lex(file.NewSource(text))
	if err != nil {
		return nil, s.syntaxError(err)
	}
	s.tokens = tokens[:len(tokens)-1] // without the end token
	if len(s.tokens) == 0 {
		return nil, ir.NewError(text, 0, 0, `write continue() for a policy that does nothing`, "the policy is empty")
	}
	if err := s.checkBrackets(); err != nil {
		return nil, err
	}
	if err := s.countTokens(); err != nil {
		return nil, err
	}
	for i, t := range s.tokens {
		s.at[t.From] = i
	}
	return s, nil
}

// checkText refuses texts that the parser must not read.
func checkText(text string) *ir.Error {
	if err := checkSize(text); err != nil {
		return err
	}
	for i, r := range text {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				return ir.NewError(text, i, i+1, "save it as UTF-8", "the policy is not valid UTF-8")
			}
		}
		if r < ' ' && !strings.ContainsRune("\t\r\n", r) {
			return ir.NewError(text, i, i+1, "remove it", fmt.Sprintf("the policy holds the control character %U", r))
		}
		if snippet.Invisible(r) {
			return ir.NewError(text, i, i+utf8.RuneLen(r), "remove it", fmt.Sprintf("the policy holds the invisible character %U", r))
		}
	}
	return nil
}

// checkBrackets matches the brackets.
func (s *source) checkBrackets() *ir.Error {
	partner := map[string]string{")": "(", "]": "[", "}": "{"}
	s.match = make([]int, len(s.tokens))
	var open []int
	for i, t := range s.tokens {
		s.match[i] = -1
		if t.Kind != lexer.Bracket {
			continue
		}
		want, closing := partner[t.Value]
		if !closing {
			open = append(open, i)
			continue
		}
		if len(open) == 0 {
			return s.errorAt(t.Location, "", "%s was never opened", t.Value)
		}
		from := open[len(open)-1]
		open = open[:len(open)-1]
		if s.tokens[from].Value != want {
			return s.errorAt(t.Location, "", "%s does not close %s", t.Value, s.tokens[from].Value)
		}
		s.match[i], s.match[from] = from, i
	}
	if len(open) > 0 {
		t := s.tokens[open[len(open)-1]]
		return s.errorAt(t.Location, "", "%s is never closed", t.Value)
	}
	return nil
}

// errorAt marks a place given in characters.
func (s *source) errorAt(at file.Location, hint, format string, args ...any) *ir.Error {
	clamp := func(n int) int { return s.bytes[min(max(n, 0), len(s.bytes)-1)] }
	return ir.NewError(s.text, clamp(at.From), clamp(at.To), hint, fmt.Sprintf(format, args...))
}

// syntaxError translates an error of expr's lexer or parser.
func (s *source) syntaxError(err error) *ir.Error {
	var fe *file.Error
	if !errors.As(err, &fe) {
		return ir.NewError(s.text, 0, 0, "", err.Error())
	}
	message, at := strings.TrimPrefix(fe.Message, "compilation failed: "), fe.Location
	if strings.HasPrefix(message, "unexpected token EOF") || strings.HasPrefix(message, "unexpected end") {
		end := len(s.bytes) - 1
		return s.errorAt(file.Location{From: end, To: end}, s.syntaxHint(len(s.tokens)), "the text ends too early")
	}
	if i, ok := s.at[at.From]; ok && strings.HasPrefix(message, "unexpected token") {
		message = fmt.Sprintf("unexpected %q", s.tokens[i].Value)
		return s.errorAt(at, s.syntaxHint(i), "%s", message)
	}
	if strings.HasPrefix(message, "bad number syntax") {
		return s.numberError(at)
	}
	return s.errorAt(at, "", "%s", message)
}

// numberError is the error for a number followed by letters, the first of which the lexer has read.
// Most often they are a unit.
func (s *source) numberError(at file.Location) *ir.Error {
	text := []rune(s.text)
	inside := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] == '.' || text[i] == '_' || unicode.IsLetter(text[i]) || unicode.IsDigit(text[i]))
	}
	for at.To = at.From; inside(at.To); at.To++ {
	}
	for ; inside(at.From - 1); at.From-- {
	}
	number, hint := string(text[at.From:max(at.From, at.To)]), ""
	if _, err := ParseDuration(number); err == nil {
		hint = fmt.Sprintf("write duration(%q)", number)
	} else if _, err := ParseSize(number); err == nil {
		hint = fmt.Sprintf("write bytes(%q)", number)
	} else if digits, ok := strings.CutSuffix(number, "k"); ok && strings.Trim(digits, "0123456789") == "" {
		hint = "write " + digits + "_000"
	}
	return s.errorAt(at, hint, "%q is not a number", number)
}
