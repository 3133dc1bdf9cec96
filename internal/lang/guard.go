package lang

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/parser/lexer"

	"github.com/cocoon-go/cocoon/internal/ir"
)

// refused are the operators of expr that policies do not have, with what to write instead.
var refused = map[string]string{
	"matches":    `regular expressions have no bound; write x in pattern("a*"), in which * is for any characters, or give the task a label`,
	"contains":   `write x in pattern("*a*")`,
	"startsWith": `write x in pattern("a*")`,
	"endsWith":   `write x in pattern("*a")`,
	"**":         "multiply with *",
	"^":          "multiply with *",
	"??":         "every state stub always has a value",
	"?.":         "every state stub always has a value; write .",
	"|":          "write f(x) instead of x | f(); for a choice write or",
	"::":         "write the function's name alone",
}

// checkTokens refuses operators that policies do not have, and nesting beyond MaxDepth.
func (s *source) checkTokens() *ir.Error {
	depth := nesting{levels: []level{{}}}
	for i, t := range s.tokens {
		property := i > 0 && s.tokens[i-1].Is(lexer.Operator, ".")
		if t.Kind == lexer.Operator && !property {
			if hint, ok := refused[t.Value]; ok {
				if _, ok := textual[t.Value]; ok && i+1 < len(s.tokens) && s.tokens[i+1].Kind == lexer.String {
					hint = patternHint(t.Value, "x", s.tokens[i+1].Value)
				}
				return s.errorAt(t.Location, hint, "there is no operator %s", t.Value)
			}
		}
		if t.Kind == lexer.Number {
			if err := s.checkNumber(i); err != nil {
				return err
			}
		}
		if t.Kind == lexer.Bytes {
			return s.errorAt(t.Location, `write "..." without b in front`, "there are no byte strings")
		}
		if property && t.Kind != lexer.Bracket {
			continue
		}
		before := lexer.Token{}
		if i > 0 {
			before = s.tokens[i-1]
		}
		if depth.add(t, before, s.operand(i-1)); depth.now > MaxDepth {
			return s.tooDeep(t, depth)
		}
	}
	return nil
}

// tooDeep refuses nesting beyond MaxDepth. The error mentions let, because a list of lets does not
// look nested.
func (s *source) tooDeep(t lexer.Token, depth nesting) *ir.Error {
	lets := 0
	for _, l := range depth.levels {
		lets += l.lets
	}
	hint := "name the parts with let, or split the policy"
	if lets > MaxDepth/2 {
		hint = fmt.Sprintf("all that follows a let or else is inside it, and %d are open here; use fewer, or split the policy", lets)
	}
	return s.errorAt(t.Location, hint, "the policy is nested more than %d deep", MaxDepth)
}

// checkNumber refuses the number at token i if it is out of range, or may be meant as octal.
func (s *source) checkNumber(i int) *ir.Error {
	t := s.tokens[i]
	if len(t.Value) > 1 && t.Value[0] == '0' && strings.IndexByte("0123456789_", t.Value[1]) >= 0 {
		return s.errorAt(t.Location, "write "+WithoutZeros(t.Value, t.Value), "the number %s begins with 0, which is octal to some readers and not to others", t.Value)
	}
	if isLeast(t.Value) && i > 0 && s.tokens[i-1].Is(lexer.Operator, "-") && !s.operand(i-2) {
		s.least[i] = true
		return nil
	}
	if !fits(t.Value) {
		return s.errorAt(t.Location, "", "the number %s is too large", t.Value)
	}
	return nil
}

// isLeast reports whether a number fits only with a minus sign.
func isLeast(number string) bool {
	n, err := strconv.ParseUint(strings.ReplaceAll(number, "_", ""), 0, 64)
	return err == nil && n == 1<<63
}

// parsable returns the text for expr's parser, which reads a number without its sign: a number that
// fits only with its sign is replaced by 1.
func (s *source) parsable() string {
	if len(s.least) == 0 {
		return s.text
	}
	text := []rune(s.text)
	for i := range s.least {
		t := s.tokens[i]
		text[t.From] = '1'
		for j := t.From + 1; j < t.To; j++ {
			text[j] = ' '
		}
	}
	return string(text)
}

// fits reports whether a number is in range. Invalid numbers count as fitting, because the parser
// has good errors for them.
func fits(number string) bool {
	number = strings.ReplaceAll(number, "_", "")
	_, ierr := strconv.ParseInt(number, 0, 64)
	_, ferr := strconv.ParseFloat(number, 64)
	if strings.ContainsAny(number, ".eE") && !strings.ContainsAny(number, "xX") {
		return !errors.Is(ferr, strconv.ErrRange)
	}
	return !errors.Is(ierr, strconv.ErrRange)
}

// operand reports whether the token i ends an operand: a + after an operand adds, and a + elsewhere
// is a sign.
func (s *source) operand(i int) bool {
	if i < 0 {
		return false
	}
	switch t := s.tokens[i]; t.Kind {
	case lexer.Identifier, lexer.Number, lexer.String:
		return true
	case lexer.Bracket:
		return t.Value == ")" || t.Value == "]" || t.Value == "}"
	}
	return s.tokens[i].Is(lexer.Operator, "#")
}

// level counts the parser's open constructs inside one pair of brackets.
type level struct {
	lets   int // let and if: open to the end of the level
	nested int // ?: and every not after an arithmetic operator or a sign: open to the next , or ;
	signs  int // operators in front of the next operand
}

// nesting tracks an upper bound of a recursive parser's depth; it is sometimes a little too high.
type nesting struct {
	levels []level
	now    int
}

func (n *nesting) add(t, before lexer.Token, afterOperand bool) {
	top := &n.levels[len(n.levels)-1]
	switch {
	case t.Kind == lexer.Bracket && (t.Value == "(" || t.Value == "[" || t.Value == "{"):
		n.levels = append(n.levels, level{})
		n.now++
	case t.Kind == lexer.Bracket:
		n.now -= 1 + top.lets + top.nested + top.signs
		n.levels = n.levels[:len(n.levels)-1]
		n.operand()
	case t.Kind != lexer.Operator || t.Value == "#":
		n.operand()
	case t.Value == "let" || t.Value == "if":
		top.lets++
		n.now++
	case t.Value == "?":
		top.nested++
		n.now++
	case t.Value == "," || t.Value == ";":
		n.now -= top.nested + top.signs
		top.nested, top.signs = 0, 0
	case afterOperand:
	case t.Value == "not" || t.Value == "!":
		// In a * not b * not c the second not is nested in the first, because its precedence is
		// lower.
		if before.Is(lexer.Operator, "*", "/", "%", "+", "-", "not", "!") {
			top.nested++
		} else {
			top.signs++
		}
		n.now++
	case t.Value == "-" || t.Value == "+":
		top.signs++
		n.now++
	}
}

// operand ends the run of signs before it.
func (n *nesting) operand() {
	top := &n.levels[len(n.levels)-1]
	n.now -= top.signs
	top.signs = 0
}

// WithoutZeros suggests what to write for digits that begin with 0: the decimal number and, if the
// digits allow it, the octal one.
func WithoutZeros(number, digits string) string {
	sign := strings.TrimSuffix(number, digits)
	rest := strings.TrimLeft(digits, "0_")
	if rest == "" || rest[0] < '0' || rest[0] > '9' {
		return sign + "0" + rest
	}
	if strings.Trim(rest, "01234567_") != "" {
		return sign + rest
	}
	return sign + rest + ", or " + sign + "0o" + rest
}
